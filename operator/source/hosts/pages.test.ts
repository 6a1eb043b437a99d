import { describe, expect, test } from '@jest/globals';
import { nextLink, readPages } from './pages.ts';

const base = new URL('https://git.example/api/items?page=1');

describe('the link to the next page', () => {
  test.each([
    ['<https://git.example/api/items?page=2>; rel="next"', 'https://git.example/api/items?page=2'],
    ['<https://git.example/a>; rel="prev", <https://git.example/b>; rel="next"', 'https://git.example/b'],
    ['<https://git.example/b>; rel="next", <https://git.example/z>; rel="last"', 'https://git.example/b'],
    ['<https://git.example/b>; title="x"; rel="last next"', 'https://git.example/b'],
    ['<https://git.example/a,b;c>; rel=next', 'https://git.example/a,b;c'],
    ['</api/items?page=2>; rel="next"', 'https://git.example/api/items?page=2'],
    ['<https://evil.example/x>; rel="next"', 'https://evil.example/x'],
    ['<https://git.example/z>; rel="last"', undefined],
    ['<https://git.example/z>; rel="nextish"', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s', (header, expected) => {
    expect(nextLink(header, base)?.href).toBe(expected);
  });

  test('is read from a long header in bounded time', () => {
    const { user } = process.cpuUsage();
    expect(nextLink('<'.repeat(200_000), base)).toBeUndefined();
    expect(process.cpuUsage().user - user).toBeLessThan(2_000_000);
  });

  test('is refused if it is not an address', () => {
    expect(() => nextLink('<http://[>; rel="next"', base)).toThrow(/an invalid address/);
  });
});

describe('a list', () => {
  let time = 0;
  const now = () => new Date(time);
  const pageAt = (url: URL) => Number(url.searchParams.get('page'));
  const following = (url: URL) => new URL(`?page=${pageAt(url) + 1}`, url);

  test('of too many characters in all its pages is refused, when it exceeds them', async () => {
    let asked = 0;
    const read = (url: URL) => {
      asked += 1;
      return Promise.resolve({ items: [`${pageAt(url)}${'x'.repeat(2 ** 20)}`], next: following(url) });
    };
    await expect(readPages(base, read, String, now)).rejects.toThrow(/more than 16 million characters/);
    expect(asked).toBe(16);
  });

  test('of a single page is read once', async () => {
    let asked = 0;
    const read = () => Promise.resolve({ items: [1, 2, ...(asked++ ? [3] : [])], next: undefined });
    expect(await readPages(base, read, (item) => item, now)).toEqual([1, 2]);
    expect(asked).toBe(1);
  });

  test.each([
    [700, 40],
    [2000, 30],
  ])('at %i ms for each of 20 pages, read twice, requests %i pages', async (each, pages) => {
    let asked = 0;
    const read = (url: URL) => {
      asked += 1;
      time += each;
      return Promise.resolve({ items: [pageAt(url)], next: pageAt(url) < 20 ? following(url) : undefined });
    };
    const found = readPages(base, read, (item) => item, now);
    await (pages === 40 ? expect(found).resolves.toHaveLength(20) : expect(found).rejects.toThrow(/longer than 60 s/));
    expect(asked).toBe(pages);
  });

  test('can be empty', async () => {
    expect(await readPages(base, () => Promise.resolve({ items: [], next: undefined }), String, now)).toEqual([]);
  });

  test('without an end is refused', async () => {
    let asked = 0;
    const read = (url: URL) => {
      asked += 1;
      return Promise.resolve({ items: [asked], next: following(url) });
    };
    await expect(readPages(base, read, (item) => item, now)).rejects.toThrow(/more than 200 pages/);
    expect(asked).toBe(200);
  });

  test('of empty pages without an end is refused', async () => {
    const read = (url: URL) => Promise.resolve({ items: [], next: following(url) });
    await expect(readPages(base, read, String, now)).rejects.toThrow(/more than 200 pages/);
  });

  test.each(['https://evil.example/x', 'http://git.example/x', 'https://git.example:444/x'])(
    'that continues at %s is refused',
    async (next) => {
      const asked: string[] = [];
      const read = (url: URL) => {
        asked.push(url.href);
        return Promise.resolve({ items: [1], next: new URL(next) });
      };
      await expect(readPages(base, read, (item) => item, now)).rejects.toThrow(/at another host/);
      expect(asked).toEqual([base.href]);
    },
  );
});
