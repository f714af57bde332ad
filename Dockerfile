# syntax=docker/dockerfile:1
# Two stages: the toolchain stays behind, the image is the C runtime, the certificates and one program.

FROM rust:1.95-bookworm AS build
WORKDIR /build
COPY . .
ARG REVISION=unknown
# Further parts of the program, such as otel (docs/traces.md).
ARG FEATURES=""
ENV ANAMNESIS_REVISION=${REVISION}
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/build/target \
    cargo build --locked --profile dist --bin anamnesis --features "${FEATURES}" \
    && install -D -m 0755 target/dist/anamnesis /out/usr/local/bin/anamnesis \
    && install -d -m 0750 /out/var/lib/anamnesis /out/var/lib/anamnesis/keys

# User 65532, no shell, no package manager.
FROM gcr.io/distroless/cc-debian12:nonroot
ARG REVISION=unknown
ARG VERSION=0.2.0
LABEL org.opencontainers.image.title="anamnesis" \
      org.opencontainers.image.description="Clinical memory pipeline: redacts, extracts, embeds, stores and ages what a patient's documents say" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --from=build /out/usr/local/bin/anamnesis /usr/local/bin/anamnesis
COPY --from=build --chown=65532:65532 /out/var/lib/anamnesis /var/lib/anamnesis
COPY LICENSE NOTICE /licenses/
COPY models/NOTICE /licenses/NOTICE.models
USER 65532:65532
WORKDIR /var/lib/anamnesis
# Inside a container the probes come from outside it. Memory that is free goes back after ten milliseconds, not a second.
# The root key is a secret that is given to the container: none is made next to the store, or where it would go with the
# container. deploy/compose/compose.yaml shows how.
ENV ANAMNESIS__HTTP__BIND=0.0.0.0:8080 \
    ANAMNESIS__LOG__FORMAT=json \
    ANAMNESIS__STORE__PATH=/var/lib/anamnesis/store.db \
    ANAMNESIS__STORE__KEYS=/var/lib/anamnesis/keys/store.keys \
    ANAMNESIS__STORE__MASTER_KEY_FILE=/run/secrets/anamnesis-root-key \
    MIMALLOC_PURGE_DELAY=10
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/local/bin/anamnesis"]
CMD ["worker"]
