import { readConfig, writeConfig } from '../config/config-file.ts';
import { usageError } from '../errors.ts';
import { note } from '../io.ts';
import { printList } from '../output/print.ts';
import type { Run } from '../session.ts';
import { nearest } from '../suggest.ts';

/** Lists the contexts, or makes one current. */
export const context: Run = async ({ io, format }, [name]) => {
  const config = readConfig(io);
  if (name === undefined) {
    const items = Object.entries(config.contexts).map(([key, { url, email, token }]) => ({
      ...{ name: key, url, current: key === config.current, signedIn: token !== undefined },
      ...(email !== undefined && { email }),
    }));
    await printList(io, format, items, {
      name: (item) => item.name,
      columns: [
        { title: 'CURRENT', value: ({ current }) => (current ? '*' : '') },
        { title: 'CONTEXT', value: (item) => item.name },
        { title: 'SERVER', value: ({ url }) => url },
        { title: 'ACCOUNT', value: ({ email }) => email },
      ],
    });
    return;
  }
  if (config.contexts[name] === undefined) {
    const near = nearest(name, Object.keys(config.contexts));
    throw usageError(`there is no context ${name}.${near === undefined ? '' : ` Did you mean ${near}?`}`);
  }
  writeConfig(io, { ...config, current: name });
  note(io, `the current context is ${name}`);
};
