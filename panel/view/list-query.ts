const pageSize = 50;

/** Returns the query of the list of environments for the filters in the page's address. */
export function listQuery(page: Readonly<Record<string, string>>): string {
  const parameters = new URLSearchParams({ limit: String(pageSize) });
  for (const name of ['text', 'state', 'health', 'asleep', 'type', 'sort']) {
    const value = page[name];
    if (value !== undefined && value !== '') parameters.set(name, value);
  }
  return parameters.toString();
}
