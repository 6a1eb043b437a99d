import { memoryFiles } from '../memory-files.ts';
import { EXAMPLE_FACTS, OwnVariables } from '../own-variables.ts';
import { type ParsedServiceFile, readServiceFile, type ServiceFileRequest } from '../parse.ts';

/** Returns the service file of a repository that contains `text` as `compose.yaml`; no variable is a secret. `more`: how it includes or is included. */
export function readYaml(
  text: string,
  files: Readonly<Record<string, string>> = {},
  variables: Readonly<Record<string, string>> = {},
  more: Pick<ServiceFileRequest, 'include' | 'included'> = {},
): Promise<ParsedServiceFile> {
  return readServiceFile({
    files: memoryFiles({ ...files, 'compose.yaml': text }),
    variables: new Map(Object.entries(variables).map(([name, value]) => [name, { value, visibility: 'always' }])),
    own: new OwnVariables(EXAMPLE_FACTS),
    settings: { mode: 'repo' },
    ...more,
  });
}
