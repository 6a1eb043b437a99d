import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const title = readFileSync(new URL('title.txt', import.meta.url), 'utf8').trim();

const page = (greeting) => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${title}</title>
<style>body { font: 18px/1.5 system-ui; margin: 4rem auto; max-width: 40rem; color: #223 } h1 { color: #2a6f4e }</style>
</head>
<body><h1>${title}</h1><p id="greeting">${greeting}</p></body>
</html>
`;

createServer(async (_request, response) => {
  try {
    const answer = await fetch(`${process.env.API_URL}/greeting`);
    const { greeting } = await answer.json();
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page(greeting));
  } catch (error) {
    response.writeHead(502).end(`the API does not answer: ${error.message}\n`);
  }
}).listen(8080, () => console.log('web listens on 8080'));
process.on('SIGTERM', () => process.exit(0));
