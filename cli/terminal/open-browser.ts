import { spawn } from 'node:child_process';
import { CliError } from '../errors.ts';

/** Opens a web page, without waiting for the browser. @throws CliError for another kind of address */
export function openBrowser(url: string): void {
  if (!/^https?:\/\//.test(url)) throw new CliError(`${url} is not a web address`);
  // No shell: an address cannot be read as a command.
  const [program, args]: [string, string[]] =
    process.platform === 'darwin'
      ? ['open', [url]]
      : process.platform === 'win32'
        ? ['rundll32', ['url.dll,FileProtocolHandler', url]]
        : ['xdg-open', [url]];
  const child = spawn(program, args, { stdio: 'ignore', detached: true });
  // Without a desktop, the user can still open the printed address.
  child.on('error', () => undefined);
  child.unref();
}
