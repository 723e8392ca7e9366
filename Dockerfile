# Two stages: the first builds the wheel and what it needs, the second only runs it.
FROM python:3.13-slim AS build
WORKDIR /src
COPY requirements/runtime.txt requirements/
RUN python -m venv /app && /app/bin/pip install --no-cache-dir --require-hashes -r requirements/runtime.txt
COPY . .
RUN /app/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.13-slim
COPY --from=build /app /app
ENV PATH=/app/bin:$PATH PYTHONDONTWRITEBYTECODE=1
USER 65534:65534
WORKDIR /work
ENTRYPOINT ["tokengap"]
CMD ["--help"]
