import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stop } from 'esbuild';
import { buildPanel, compressed, type BuiltPanel } from './build.ts';

/** Maximum size of the first page's scripts, in bytes. */
const maxFirstBytes = 60_000;

describe('the compiled panel', () => {
  let built: BuiltPanel;
  beforeAll(async () => {
    built = await buildPanel();
  });
  // Otherwise esbuild's process keeps running after the test.
  afterAll(() => stop());

  test(`the first page loads at most ${maxFirstBytes} bytes of compressed script`, () => {
    const scripts = built.files.filter(
      ({ name }) => built.firstScripts.includes(name) || name.startsWith('theme-start-'),
    );
    expect(scripts.length).toBeGreaterThan(1);
    const bytes = scripts.reduce((sum, file) => sum + compressed(file.bytes).gz.length, 0);
    expect(bytes).toBeLessThanOrEqual(maxFirstBytes);
  });

  test('the document has nothing inline, and names files that exist', () => {
    const html = built.index.toString();
    expect(html).not.toMatch(/<style|style=|<script(?![^>]* src=)|\son\w+=/);
    const names = [...html.matchAll(/\/assets\/([^"]+)/g)].map(([, name]) => name);
    expect(names).toHaveLength(5);
    expect(built.files.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
  });

  test('nothing of another site is loaded', () => {
    const texts = built.files.filter(({ name }) => /\.(js|css|svg)$/.test(name)).map(({ bytes }) => bytes.toString());
    const addresses = texts.flatMap(
      (text) => text.match(/(?:url\(|import\(|import|from|src=|href=)\s*["'`]?(?:https?:)?\/\/[^"')]+/g) ?? [],
    );
    expect(addresses).toEqual([]);
  });
});
