/** Environment variables with the address of a proxy. Tools are given their names only: an address can contain a password. */
const variables = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'] as const;

/** Returns the names of the proxy variables of this process, which the programs that it starts inherit. */
export function proxyVariables(env: NodeJS.ProcessEnv = process.env): string[] {
  return variables.filter((name) => env[name]);
}

/** Returns a text without the passwords of proxies: programs report their commands and their environment when they fail. */
export function withoutProxyPasswords(text: string, env: NodeJS.ProcessEnv = process.env): string {
  const all = variables.flatMap((name) => [env[name], env[name.toLowerCase()]]);
  const passwords = all.flatMap((value = '') => /:\/\/[^/@]*?:([^/]*)@/.exec(value)?.[1] ?? []);
  return passwords
    .filter((password) => password !== '')
    .reduce((result, password) => result.replaceAll(password, '***'), text);
}
