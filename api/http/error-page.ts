import type { Request } from 'express';
import type { ErrorResponse } from './error-response.ts';

/**
 * Whether a browser is to be shown a page in place of JSON: it opens the log of a build, where the Git host's commit
 * statuses and comments lead. Scripts of a page, and other clients, do not name text/html.
 */
export function wantsErrorPage({ method, path, headers }: Pick<Request, 'method' | 'path' | 'headers'>): boolean {
  return method === 'GET' && path.endsWith('/build/logs') && /\btext\/html\b/.test(headers.accept ?? '');
}

export interface ErrorPageOptions {
  /** Of the log, as the browser asked for it. */
  url: string;
  /** Where a browser logs in; undefined where only a password does it. */
  loginPath: string | undefined;
}

/** Returns what a person is shown: what failed, and what to do. */
export function errorPage({ status, body }: ErrorResponse, { url, loginPath }: ErrorPageOptions): string {
  const isLogin = status === 400 || status === 401;
  const title = isLogin ? 'Log in to read this log' : 'This log cannot be shown';
  const steps = isLogin ? [`You are not logged in: ${body.error}.`] : [`The server answered: ${body.error}.`];
  if (status === 404) steps.push('Either there is no such log any more, or your account is not a member of its group.');
  const login =
    loginPath === undefined ? '' : `<p><a href="${escape(loginPath)}">Log in</a>, then open this page again.</p>`;
  // People paste it into a shell: whoever made the link chose the address.
  const quoted = `'${url.replaceAll("'", '%27')}'`;
  const command = `curl -H "X-SERVICE-TOKEN: $token" ${quoted}`;
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${title}</title>
<h1>${title}</h1>
${steps.map((step) => `<p>${escape(step)}</p>`).join('\n')}
${isLogin ? `${login}\n<p>With a token, which <code>POST /api/user/login</code> or an API token gives, read it on the command line:</p>\n<pre>${escape(command)}</pre>` : ''}
</html>
`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
