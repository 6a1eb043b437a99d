import type { BuildLogMessage } from '../../build-logs/message.ts';

/** How many lines a numbered build writes unless it is reported, one each 50 ms. */
const commonly = 150;

/** `run` is a value of its own for each run, or the layer would be in the builder's cache. */
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

/** The number of the build's line that a message holds, if it holds one. */
export function numberIn(message: BuildLogMessage): number | undefined {
  const number = 'line' in message ? / line (\d+) of the build$/.exec(message.line)?.[1] : undefined;
  return number === undefined ? undefined : Number(number);
}

/** What a whole log should hold of seqs and numbers, `expected`, beside what it does. */
export function countedLog(messages: readonly BuildLogMessage[], lines = commonly) {
  const count = (length: number) => Array.from({ length }, (_value, index) => index + 1);
  return {
    found: { seqs: messages.map(({ seq }) => seq), numbers: messages.flatMap((message) => numberIn(message) ?? []) },
    expected: { seqs: count(messages.length), numbers: count(lines) },
  };
}
