# Two stages: the first builds an environment that holds the service and what it needs, the second runs it.
FROM python:3.13-slim AS build
WORKDIR /src
COPY requirements/build.txt requirements/serve.txt requirements/
# pip and the build tools have an environment of their own, which stays behind.
RUN python -m venv /build && python -m venv --without-pip /app \
 && /build/bin/pip install --no-cache-dir --require-hashes -r requirements/build.txt \
 && /build/bin/pip --python /app/bin/python install --no-cache-dir --require-hashes -r requirements/serve.txt
COPY . .
RUN /build/bin/pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /wheels . \
 && /build/bin/pip --python /app/bin/python install --no-cache-dir --no-deps /wheels/*.whl

FROM python:3.13-slim
COPY --from=build /app /app
ENV PATH=/app/bin:$PATH
# Importing the service proves that it is whole, and leaves the bytecode that a read-only root cannot keep.
RUN tokengap count --quiet --text ready && python -c 'import tokengap.service.app, uvicorn.main'
USER 65534:65534
WORKDIR /work
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["python", "-c", "import http.client as c; h = c.HTTPConnection('127.0.0.1', 8000, timeout=4); h.request('GET', '/readyz'); raise SystemExit(h.getresponse().status != 200)"]
ENTRYPOINT ["tokengap"]
CMD ["serve", "--host", "0.0.0.0"]
