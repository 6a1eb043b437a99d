const domain = '@end-to-end.example';

/** Returns the address of an account that an end-to-end test uses, whose groups the next run deletes after a killed one. */
export function testAddress(name: string): string {
  return `${name}${domain}`;
}

export function isTestAddress(address: string): boolean {
  return address.endsWith(domain);
}
