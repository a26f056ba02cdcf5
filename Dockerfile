# A server of operators: docker build -t kernop . && docker run -p 8000:8000 -v "$PWD:/operators:ro" \
#     -e KERNOP_TOKEN=… kernop /operators/darcy.kernop
FROM python:3.11-slim

RUN useradd --create-home --uid 10001 kernop
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY tools/readme.py ./tools/
COPY src ./src
RUN pip install --no-cache-dir '.[serve]' && rm -rf /src

USER kernop
WORKDIR /home/kernop
# One thread of BLAS for each request; requests are what runs side by side.
ENV OPENBLAS_NUM_THREADS=1 PYTHONUNBUFFERED=1
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
# Operators are served to all addresses of the container: publish the port where it is wanted, and set a token.
ENTRYPOINT ["kernop", "serve", "--host", "0.0.0.0"]
