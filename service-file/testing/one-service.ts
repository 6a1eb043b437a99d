import type { ParsedServiceFile } from '../parse.ts';
import { readYaml } from './read-yaml.ts';
import type { Service } from '../schema.ts';

export interface OneService extends ParsedServiceFile {
  /** Undefined if there are errors. */
  service: Service | undefined;
  /** `line:column path message`, without `services.web.`; lines count from the service's first key. */
  errorLines: string[];
  warningLines: string[];
}

/**
 * Reads a file for tests whose service `web` has these lines, after `image: app` unless they contain an image or build.
 * `rest`: other services (indented by two spaces) or top-level keys.
 */
export async function oneService(
  lines: string,
  {
    rest = '',
    files = {},
    variables = {},
  }: { rest?: string; files?: Record<string, string>; variables?: Record<string, string> } = {},
): Promise<OneService> {
  const origin = /^(build|image):/m.test(lines) ? '' : '    image: app\n';
  const before = `services:\n  web:\n${origin}`;
  const text = `${before}${lines.replaceAll(/^(?=.)/gm, '    ')}\n${rest}`;
  const parsed = await readYaml(text, files, variables);
  const skipped = before.split('\n').length - 1;
  const lineOf = ({ path, line, column, message }: ParsedServiceFile['errors'][number]): string =>
    `${line - skipped}:${column - 4} ${path.replace(/^services\.web\.?/, '')} ${message}`;
  return {
    ...parsed,
    service: parsed.serviceFile?.services.find(({ name }) => name === 'web'),
    errorLines: parsed.errors.map(lineOf),
    warningLines: parsed.warnings.map(lineOf),
  };
}
