# One image for the operator, the API and the clone init container of a build: `node operator/main.ts`,
# `node api/main.ts`, `git`. Node runs the TypeScript as it is; only the panel (ADR 51) and the command line are compiled.
# The digest is of the list of all platforms' images; docs/reference/supply-chain.md says how to get the next one.
ARG NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:d6aa754f16b3197301076f047b5def2f02ea1dbbc2ca920407d46d7ec7f87b20
FROM ${NODE_IMAGE} AS panel
WORKDIR /app
COPY package.json package-lock.json ./
COPY panel/build-packages.ts panel/
RUN node panel/build-packages.ts && npm install --ignore-scripts --no-audit --no-fund
COPY build-logs/controls.ts build-logs/
COPY shell-protocol shell-protocol
COPY panel panel
RUN node panel/build.ts
# As a plugin of kubectl, the command line shows resources as the API does.
COPY api api
COPY crds crds
COPY kubernetes kubernetes
COPY pattern-search pattern-search
COPY process process
COPY service-file service-file
COPY cli cli
RUN node cli/build.ts

# Coppice's own files, which the image gets as one layer, because a node unpacks layers one after another.
FROM ${NODE_IMAGE} AS code
WORKDIR /app
COPY LICENSE NOTICE LICENSES.md ./
COPY process process
COPY fair-queue fair-queue
COPY pattern-search pattern-search
COPY crds crds
COPY kubernetes kubernetes
COPY build-logs build-logs
COPY service-file service-file
COPY tester-client tester-client
COPY environment-access environment-access
COPY shell-protocol shell-protocol
COPY registry-tokens registry-tokens
COPY waker-protocol waker-protocol
COPY waker waker
COPY operator operator
COPY api api
COPY --from=panel /app/panel/dist panel/dist
COPY --from=panel /app/cli/dist cli/dist

FROM ${NODE_IMAGE}
# A release sets it to the time of its commit, which useradd writes instead of today's date.
ARG SOURCE_DATE_EPOCH
# tini reaps what git leaves behind; ssh refuses to run for a user that /etc/passwd does not name. Perl's modules are a
# fifth of this layer, and only commands of git that Coppice does not run need them. Logs and caches differ in each build.
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates git openssh-client tini \
 && useradd --uid 10001 --user-group --home-dir /tmp --no-create-home coppice \
 && rm -rf /var/lib/apt/lists/* /usr/share/perl /usr/lib/*-linux-gnu/perl /var/log/* /var/cache/ldconfig/aux-cache
WORKDIR /app
COPY package.json package-lock.json ./
# Only the tester needs the optional package, Playwright. Nothing that runs reads source maps, declarations of types, or
# programs for the runtime Bare (prebuilds).
RUN npm ci --ignore-scripts --omit=dev --omit=optional --no-audit --no-fund --cache /tmp/npm \
 && rm -rf /tmp/* \
 && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -path '*/bare-*/prebuilds/*' \) -delete
COPY --from=code /app ./
# The root file system may be read-only, so files are written to /tmp. The image contains Node's compile cache, which halves
# the start time of a process; the user that runs the modules writes it.
ENV NODE_ENV=production HOME=/tmp NODE_COMPILE_CACHE=/app/compiled
RUN install --directory --owner 10001 --group 10001 "$NODE_COMPILE_CACHE"
# Reported by the metric coppice_build_info; set with `--build-arg REVISION=$(git rev-parse HEAD)`.
ARG REVISION=unknown
ENV COPPICE_REVISION=${REVISION}
USER 10001:10001
# Loads what the programs import, without starting them. V8 writes another cache in each run, so that a release, whose builds
# are equal, has none.
RUN test -n "$SOURCE_DATE_EPOCH" || node --eval "for (const program of ['operator/main', 'operator/doctor', 'operator/migrate-storage', 'api/main', 'api/service-file-check/check-worker', 'registry-tokens/main', 'waker/main']) for (const [, path] of fs.readFileSync('/app/' + program + '.ts', 'utf8').matchAll(/(?:from |import[(])'([.][^']+)'/g)) import(new URL(path, 'file:///app/' + program).href)"
CMD ["node", "operator/main.ts"]
