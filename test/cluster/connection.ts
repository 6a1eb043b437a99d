import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { LOCAL_FOLDER } from '../support/paths.ts';
import { Problem } from '../support/problem.ts';

export const CONNECTION_FILE = join(LOCAL_FOLDER, 'connection.json');

const connectionSchema = z.object({
  /** URL of the REST API, such as http://coppice.localhost:8080. */
  apiUrl: z.url(),
  /** URL of the Ingress controller, for requests with an explicit Host header. */
  ingressUrl: z.url(),
  kubeconfig: z.string(),
  /** host:port of the registry, as used in the cluster. */
  registry: z.string(),
  gitUrl: z.url(),
  /** The user that the sample registered. */
  email: z.email(),
  password: z.string(),
});
export type Connection = z.infer<typeof connectionSchema>;

/** Writes .local/connection.json for scripts and tests, readable only by this user. */
export function writeConnection(connection: Connection): void {
  mkdirSync(LOCAL_FOLDER, { recursive: true });
  writeFileSync(CONNECTION_FILE, `${JSON.stringify(connectionSchema.parse(connection), null, 2)}\n`, { mode: 0o600 });
  chmodSync(CONNECTION_FILE, 0o600); // The mode above applies only to a new file.
}

/** Reads the connection that `npm run up` wrote. Throws a Problem if there is none. */
export function readConnection(): Connection {
  let text: string;
  try {
    text = readFileSync(CONNECTION_FILE, 'utf8');
  } catch (error) {
    throw new Problem(`There is no ${CONNECTION_FILE}: start the cluster with \`npm run up\`.`, { cause: error });
  }
  return connectionSchema.parse(JSON.parse(text));
}
