import { expect } from '@jest/globals';
import { chromium } from 'playwright-core';
import type { World } from './world.ts';

/**
 * Opens the page of the OpenAPI document in a browser, with the API's own headers, and verifies that it shows the
 * operations and can send a request.
 */
export async function pageCanBeTried({ client, harness }: World): Promise<void> {
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(60_000);
    const elsewhere: string[] = [];
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol !== 'data:' && origin !== harness.connection.apiUrl) elsewhere.push(request.url());
    });
    await page.goto(`${harness.connection.apiUrl}/api/docs`);
    await page.click('.btn.authorize');
    const header = page.locator('.auth-container', { hasText: 'X-SERVICE-TOKEN' });
    await header.locator('input').fill(client.token ?? '');
    await header.locator('.authorize').click();
    await header.locator('.btn-done').click();
    const operation = page.locator('[id="operations-user-getUserInfo"]');
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('.try-out__btn').click();
    await operation.locator('.execute').click();
    expect(await operation.locator('.live-responses-table tbody').first().textContent()).toContain(client.email);
    expect(elsewhere).toEqual([]);
  } finally {
    await browser.close();
  }
}
