# One image for the operator, the API and the clone init container of a build: `node operator/main.ts`,
# `node api/main.ts`, `git`. Node runs the TypeScript as it is, so nothing is compiled here.
FROM node:24-slim
# tini reaps what git leaves behind; ssh refuses to run for a user that /etc/passwd does not name.
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates git openssh-client tini \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --user-group --home-dir /tmp --no-create-home coppice
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund --cache /tmp/npm \
 && rm -rf /tmp/npm
COPY crds crds
COPY kubernetes kubernetes
COPY build-logs build-logs
COPY operator operator
COPY api api
# The root file system may be read-only: what is written goes to /tmp.
ENV NODE_ENV=production HOME=/tmp
USER 10001:10001
CMD ["node", "operator/main.ts"]
