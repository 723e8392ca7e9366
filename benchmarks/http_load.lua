-- Every request is another prompt: a number that only this request has stands in front of the text.
local file = assert(io.open(os.getenv("PROMPT_FILE"), "rb"))
local text = file:read("*a")
file:close()
local counter, bad = 0, 0
local threads = {}

function setup(thread)
  table.insert(threads, thread)
  thread:set("first", #threads * 1000000000)
end

function request()
  counter = counter + 1
  local body = string.format('{"input": "%d %s"}', first + counter, text)
  return wrk.format("POST", "/v1/count", { ["Content-Type"] = "application/json" }, body)
end

function done(summary, latency, requests)
  local e = summary.errors
  print(string.format("RESULT %f %f %d", summary.requests * 1e6 / summary.duration, latency:percentile(99) / 1000,
    e.connect + e.read + e.write + e.status + e.timeout))
end
