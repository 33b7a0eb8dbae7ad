# Billow in a container. `docker compose up` is the demo; see docs/operating.md for a real configuration.

FROM swift:6.3-bookworm AS build
WORKDIR /build
# What changes least comes first, so that it is built least often: libraries and the viewer's parts, then dependencies.
COPY Scripts Scripts
RUN Scripts/setup
COPY Package.swift ./
RUN swift package resolve
COPY Sources Sources
COPY Tests Tests
COPY Fuzz Fuzz
COPY Examples Examples
# What `billow --version` says beside the release: docker build --build-arg BUILD_COMMIT=$(git describe --always) …
ARG BUILD_COMMIT
RUN Scripts/build-packaged /out/bin/billow && strip /out/bin/billow
COPY Public Public
COPY Styles Styles
RUN mkdir -p /out/share/billow && cp -r Public Styles /out/share/billow/

FROM debian:bookworm-slim
# The fonts are the legends'; the certificates are for upstreams over https. A pinned library would miss its security
# updates. Of the tables of ecCodes, those of other formats than GRIB2 go: Billow reads no other.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends \
        ca-certificates fonts-dejavu-core libbrotli1 libdeflate0 libeccodes0 libfreetype6 libgeographiclib23 \
        libgeos-c1v5 libpng16-16 libpq5 libsqlite3-0 libssl3 libstdc++6 libzstd1 zlib1g \
    && rm -rf /var/lib/apt/lists/* /usr/share/eccodes/ifs_samples \
    && for format in bufr grib1 grib3 metar taf; do rm -r "/usr/share/eccodes/definitions/$format"; done \
    && useradd --uid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin billow \
    && install -d -o billow -g billow /data
COPY --from=build /out /usr/local
# Defaults only: settings files, variables and flags come before them.
ENV BILLOW_DEFAULT_SERVER_HOST=0.0.0.0 \
    BILLOW_DEFAULT_SERVER_PORT_FILE=/tmp/billow.port
USER 10001:10001
# Databases are made in the working folder unless a setting says otherwise.
WORKDIR /data
VOLUME /data
EXPOSE 8080
# Bash speaks TCP by itself, so that the image needs no HTTP client. The port file names the port, wherever that is set.
# A folder that is mounted at /data must belong to user 10001.
HEALTHCHECK --interval=10s --timeout=10s --start-period=60s --retries=6 CMD ["bash", "-c", \
    "read -r port < /tmp/billow.port && exec 3<>\"/dev/tcp/127.0.0.1/$port\" && \
    printf 'GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && \
    head -n 1 <&3 | grep -q ' 200 '"]
ENTRYPOINT ["billow"]
CMD ["serve"]
