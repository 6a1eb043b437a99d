import { spawn } from 'node:child_process';
import type { RequestListener } from 'node:http';

/** Serves the repositories below a folder with Git's CGI program, whose responses have one part. */
export function gitHttp(folder: () => string): RequestListener {
  return (request, response) => {
    const { url = '', method = '', headers } = request;
    const { pathname, search } = new URL(url, 'http://x');
    const env = {
      ...process.env,
      GIT_PROJECT_ROOT: folder(),
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: method,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
    };
    const child = spawn('git', ['http-backend'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
    const chunks: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.on('close', () => {
      const answer = Buffer.concat(chunks);
      const end = answer.indexOf('\r\n\r\n');
      const type = /^Content-Type: (.*)$/im.exec(answer.subarray(0, end).toString('latin1'))?.[1];
      response.setHeader('content-type', type ?? '').end(answer.subarray(end + 4));
    });
    // The program may exit before it has read all input.
    request.pipe(child.stdin.on('error', () => undefined));
  };
}
