# A live agent or host of Parlour, with PyTorch for processors alone.
#
#   docker build -t parlour .
#   docker run -v "$PWD/agent.toml:/etc/parlour/agent.toml:ro" -v parlour:/var/lib/parlour parlour \
#       deploy poker --config /etc/parlour/agent.toml
#
# The page docs/leave_it_running.md describes it.
FROM python:3.11-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/parlour
# PyTorch has a layer of its own: a change of Parlour does not install it again.
# hadolint ignore=DL3059
RUN /opt/parlour/bin/pip install --index-url https://download.pytorch.org/whl/cpu "torch>=2.8,<2.14"
WORKDIR /src
COPY pyproject.toml setup.py README.md LICENSE ./
COPY package package
COPY envs envs
COPY wrappers wrappers
COPY training training
COPY zoo zoo
RUN /opt/parlour/bin/pip install ".[train,live,arena,llm]"

FROM python:3.11-slim
RUN useradd --system --uid 10001 --home-dir /var/lib/parlour --create-home parlour \
    && install -d -o parlour -g parlour /etc/parlour
COPY --from=build /opt/parlour /opt/parlour
# The working folder is a volume: runs/, logs, the state of a host, and the cache of compiled code.
ENV PATH=/opt/parlour/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    OMP_NUM_THREADS=1 \
    NUMBA_CACHE_DIR=/var/lib/parlour/.numba \
    PARLOUR_LOG_FORMAT=json \
    PARLOUR_METRICS_PORT=9464
USER 10001
WORKDIR /var/lib/parlour
VOLUME /var/lib/parlour
EXPOSE 9464
STOPSIGNAL SIGTERM
# Code is compiled at the first start, which takes up to a minute or two.
HEALTHCHECK --interval=30s --timeout=5s --start-period=180s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f\"http://127.0.0.1:{os.environ['PARLOUR_METRICS_PORT']}/healthz\", timeout=4)"]
ENTRYPOINT ["parlour"]
CMD ["--help"]
