import type { BuildLogMessage } from '../../build-logs/message.ts';

/** Default number of lines of a numbered build, one every 50 ms. */
const commonly = 150;

/** Returns a Dockerfile. `run` differs for each run; otherwise the layer would be cached. */
export function numberedDockerfile(run: string, lines = commonly): string {
  return `FROM node:24-slim
ENV RUN=${run}
WORKDIR /app
COPY *.mjs ./
RUN for i in $(seq ${lines}); do echo "line $i of the build"; sleep 0.05; done
USER node
CMD ["node", "server.mjs"]
`;
}

/** Returns the number of the build's line in a message, if it contains one. */
export function numberIn(message: BuildLogMessage): number | undefined {
  const number = 'line' in message ? / line (\d+) of the build$/.exec(message.line)?.[1] : undefined;
  return number === undefined ? undefined : Number(number);
}

/** Returns the seqs and numbers of a log, and those that a complete log has (`expected`). */
export function countedLog(messages: readonly BuildLogMessage[], lines = commonly) {
  const count = (length: number) => Array.from({ length }, (_value, index) => index + 1);
  return {
    found: { seqs: messages.map(({ seq }) => seq), numbers: messages.flatMap((message) => numberIn(message) ?? []) },
    expected: { seqs: count(messages.length), numbers: count(lines) },
  };
}
