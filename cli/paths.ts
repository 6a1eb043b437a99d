import { usageError } from './errors.ts';

const encode = encodeURIComponent;

export const groupPath = (id: string): string => `/api/group/${encode(id)}`;
export const repositoryPath = (id: string): string => `/api/repository/${encode(id)}`;
export const environmentPath = (id: string): string => `/api/environment/${encode(id)}`;

/** Returns an argument that is required. @throws CliError */
export function required(value: string | undefined, name: string): string {
  if (value === undefined || value === '') throw usageError(`${name} is missing`);
  return value;
}
