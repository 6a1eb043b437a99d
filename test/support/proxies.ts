/** Environment variables with the address of a proxy. Tools are given their names only: an address can contain a password. */
const variables = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]);

/** Returns the names of the proxy variables of this process, which the programs that it starts inherit. */
export function proxyVariables(env: NodeJS.ProcessEnv = process.env): string[] {
  return variables.filter((name) => env[name]);
}

/** Returns a text without the passwords of proxies: programs report their commands and their environment when they fail. */
export function withoutProxyPasswords(text: string, env: NodeJS.ProcessEnv = process.env): string {
  const passwords = variables.flatMap((name) => /^(?:\w+:\/\/)?[^/@]*?:([^/]*)@/.exec(env[name] ?? '')?.[1] ?? []);
  return passwords
    .filter((password) => password !== '')
    .reduce((result, password) => result.replaceAll(password, '***'), text);
}
