import type { Logger } from 'pino';
import { textIn, SecretFolder } from '../../../process/secret-folder.ts';
import type { RegistryCredentials } from './session.ts';

/**
 * Reads the credentials for Coppice's registry from the files `username` and `password` of a mounted Secret. Expiring
 * credentials can be replaced while the operator runs.
 * @throws Error if a file is missing or empty
 */
export function openCredentials(folder: string, logger: Logger): SecretFolder<RegistryCredentials> {
  return new SecretFolder(
    folder,
    (files) => {
      const credentials = { username: textIn(files, 'username'), password: textIn(files, 'password') };
      if (credentials.username !== '' && credentials.password !== '') return credentials;
      throw new Error(
        `username or password in ${folder} is missing or empty. Check the Secret in registry.credentialsSecret`,
      );
    },
    logger,
  );
}
