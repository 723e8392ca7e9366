-- Every request is another prompt: lines taken from a random place on, after a number that only this request has.
-- With NEW_LINES every line begins with one, so that no line is sent twice.
local lines = {}
for line in io.lines(os.getenv("PROMPT_FILE")) do
  lines[#lines + 1] = line
end
local size = tonumber(os.getenv("PROMPT_SIZE"))
local new_lines = os.getenv("NEW_LINES") == "yes"
local counter = 0
local threads = {}

function setup(thread)
  table.insert(threads, thread)
  thread:set("first", #threads * 1000000000)
end

function init()
  math.randomseed(first)
end

function request()
  counter = counter + 1
  local parts = { '{"input": "', tostring(first + counter), " " }
  local length, line = 0, math.random(#lines)
  while length < size do
    if new_lines then
      parts[#parts + 1] = string.format("%d-%d ", first + counter, #parts)
    end
    parts[#parts + 1] = lines[line]
    length = length + #lines[line]
    line = line % #lines + 1
  end
  parts[#parts + 1] = '"}'
  return wrk.format("POST", "/v1/count", { ["Content-Type"] = "application/json" }, table.concat(parts))
end

function done(summary, latency, requests)
  local e = summary.errors
  print(string.format("RESULT %f %f %d %d", summary.requests * 1e6 / summary.duration, latency:percentile(99) / 1000,
    e.connect + e.read + e.write + e.status + e.timeout, summary.requests))
end
