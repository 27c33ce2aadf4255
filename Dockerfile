# docker build -t spectralnlp . && docker run -i spectralnlp parse < text.txt
FROM python:3.12-slim AS wheel
COPY . /src
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheel /src

FROM python:3.12-slim
ENV NUMBA_CPU_NAME=generic PIP_NO_CACHE_DIR=1
RUN --mount=type=bind,from=wheel,source=/wheel,target=/wheel pip install /wheel/*.whl && spectralnlp warm-up
USER nobody
ENTRYPOINT ["spectralnlp"]
