import { createServer } from 'node:http';

createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  if (request.url === '/greeting') response.end(JSON.stringify({ greeting: process.env.GREETING }));
  else response.writeHead(404).end('{}');
}).listen(3000, () => console.log('api listens on 3000'));
process.on('SIGTERM', () => process.exit(0));
