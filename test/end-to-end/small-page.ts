/**
 * Returns one service with one page: the text, and `word: ` with the variable WORD, or `none` without such a variable.
 * Builds in a second from an existing image.
 */
export function smallPage(text: string): Record<string, string> {
  return {
    'compose.yaml':
      "services:\n  web:\n    build: .\n    ports: ['8080:8080']\n    environment: { WORD: '${WORD:-none}' }\n",
    Dockerfile: `FROM busybox:1
COPY index.html /www/
CMD echo "word: $WORD" >> /www/index.html; exec httpd -f -p 8080 -h /www
`,
    'index.html': `${text}\n`,
  };
}

/** Returns files that cannot be built. */
export function brokenPage(text: string): Record<string, string> {
  return { ...smallPage(text), Dockerfile: `FROM busybox:1\nRUN echo ${text} && exit 3\n` };
}
