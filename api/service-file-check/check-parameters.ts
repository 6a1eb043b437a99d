import { z } from 'zod';
import { SERVICE_FILE_MODES } from '../../crds/repository.ts';
import { encodedTextField } from '../http/parse.ts';

const maxFiles = 500;

/** A path relative to the repository's root, as in Git. */
const pathField = z
  .string()
  .max(1024)
  .refine((path) => path.split('/').every((part) => part !== '' && part !== '.' && part !== '..'), {
    error: "must be a path from the repository's root, without . and ..",
  });

/**
 * Body of POST /api/repository/{id}/check. The API reads no Git repository, so the request contains the files that the
 * service file names.
 */
export const checkSchema = z.object({
  serviceFile: encodedTextField,
  files: z
    .record(pathField, z.base64({ error: 'must be base64' }))
    .refine((files) => Object.keys(files).length <= maxFiles, { error: `${maxFiles} files at most are accepted` })
    .default({}),
  mode: z.enum(SERVICE_FILE_MODES, { error: `must be one of ${SERVICE_FILE_MODES.join(', ')}` }).default('repo'),
});
