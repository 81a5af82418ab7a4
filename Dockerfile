# docker build -t goldrank .   (after `python -m build`, which makes dist/*.whl)
# docker run --rm --read-only --network none --tmpfs /tmp -v "$PWD:/data:ro" goldrank eval records.jsonl
FROM python:3.13-slim AS build
COPY dist/*.whl /w/
RUN python -m venv /v \
 && /v/bin/pip install --no-cache-dir --no-compile --no-deps /w/*.whl \
 && /v/bin/pip install --no-cache-dir --no-compile "numpy>=2.0.2" "msgspec>=0.18" "click>=8.1" "scipy>=1.13" \
 && rm -rf /v/bin/pip* /v/lib/python3.13/site-packages/pip* \
 && find /v -type d \( -name tests -o -name __pycache__ \) -prune -exec rm -rf {} +

FROM python:3.13-slim
COPY --from=build /v /v
ENV PATH=/v/bin:$PATH PYTHONDONTWRITEBYTECODE=1 HOME=/tmp
USER 65532:65532
WORKDIR /data
ENTRYPOINT ["goldrank"]
