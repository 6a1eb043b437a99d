import { describe, expect, test } from '@jest/globals';
import { DockerfileLimitError, Dockerfiles } from './dockerfiles.ts';

const plain = { args: {}, platform: undefined };
const dockerfile = (id: string) => ({ path: `${id}/Dockerfile`, id });

/** Dockerfiles with this text; `reads` counts how often one was read. */
function dockerfiles(text: string) {
  const counted = { reads: 0 };
  const read = () => {
    counted.reads += 1;
    return Promise.resolve(Buffer.from(text));
  };
  return { all: new Dockerfiles({ read }), counted };
}

/** Plans services until one is refused; returns how many were not, and the message. */
async function accepted(count: number, plan: (index: number) => Promise<unknown>): Promise<[number, string]> {
  for (let index = 0; index < count; index += 1) {
    try {
      await plan(index);
    } catch (error) {
      if (error instanceof DockerfileLimitError) return [index, error.message];
      throw error;
    }
  }
  return [count, ''];
}

test('reads a Dockerfile once, however many services and arguments use it', async () => {
  const { all, counted } = dockerfiles('ARG V\nFROM node:$V');
  for (const V of ['22', '24', '22']) {
    const { bases } = await all.basesOf(dockerfile('a'), { args: { V }, platform: undefined });
    expect(bases).toEqual([`docker.io/library/node:${V}`]);
  }
  expect(counted.reads).toBe(1);
});

test('lets other work continue between two Dockerfiles', async () => {
  const { all } = dockerfiles(`FROM a\n${'\\\n'.repeat(25_000)}`);
  const events: string[] = [];
  const other = (async () => {
    for (let index = 0; index < 5; index += 1) {
      events.push('other');
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  for (let index = 0; index < 5; index += 1) {
    await all.basesOf(dockerfile(`${index}`), plain);
    events.push('dockerfile');
  }
  await other;
  expect(events.slice(0, 6)).toEqual(['other', 'other', 'dockerfile', 'other', 'dockerfile', 'other']);
});

describe('hostile Dockerfiles of a hundred services', () => {
  const large = `FROM a\n${'\\\n'.repeat(64_000)}`;
  const stages = 'FROM a\n'.repeat(10_000);

  test.each<[string, string, (index: number) => string, (index: number) => Record<string, string>, number, RegExp]>([
    [
      'above 128 KiB',
      'x'.repeat(128 * 1024 + 1),
      () => 'a',
      () => ({}),
      0,
      /^a\/Dockerfile is larger than 128 KiB. Shorten it$/,
    ],
    ['one that all name', large, () => 'a', () => ({}), 100, /^$/],
    ['of more than 1 MiB together', large, String, () => ({}), 8, /^all Dockerfiles together are larger than 1024 KiB/],
    ['with many stages', stages, () => 'a', () => ({}), 100, /^$/],
    [
      'with many stages each',
      stages,
      String,
      () => ({}),
      2,
      /more than 20000 instructions that name images\. Use fewer/,
    ],
    ['with arguments each', stages, () => 'a', (index) => ({ V: `${index}` }), 2, /the same build arguments/],
  ])('%s are refused from the n-th on', async (_what, text, idOf, argsOf, expected, message) => {
    const { all } = dockerfiles(text);
    const [count, why] = await accepted(100, (index) =>
      all.basesOf(dockerfile(idOf(index)), { args: argsOf(index), platform: undefined }),
    );
    expect(count).toBe(expected);
    expect(why).toMatch(message);
  });
});
