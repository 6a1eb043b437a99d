import type { Request } from 'express';
import type { ErrorResponse } from './error-response.ts';

/**
 * Returns whether to show a page instead of JSON: commit statuses and comments at the Git host link to build logs,
 * which users open in a browser. Other clients do not accept text/html.
 */
export function wantsErrorPage({ method, path, headers }: Pick<Request, 'method' | 'path' | 'headers'>): boolean {
  return method === 'GET' && path.endsWith('/build/logs') && /\btext\/html\b/.test(headers.accept ?? '');
}

export interface ErrorPageOptions {
  /** URL of the log, as the browser requested it. */
  url: string;
  /** Where a browser logs in; undefined if only passwords can be used. */
  loginPath: string | undefined;
}

/** Returns a page that says what failed and what to do. */
export function errorPage({ status, body }: ErrorResponse, { url, loginPath }: ErrorPageOptions): string {
  const isLogin = status === 400 || status === 401;
  const title = isLogin ? 'Log in to read this log' : 'This log cannot be shown';
  const steps = isLogin ? [`You are not logged in: ${body.error}.`] : [`The server answered: ${body.error}.`];
  if (status === 404) steps.push('The log no longer exists, or your account is not a member of its group.');
  const login =
    loginPath === undefined ? '' : `<p><a href="${escape(loginPath)}">Log in</a>, then open this page again.</p>`;
  // Users paste the command into a shell, and the author of a link can put any text into its URL.
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
