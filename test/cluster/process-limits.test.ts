import { expect, it } from '@jest/globals';
import { nodesWithoutProcessLimit } from './process-limits.ts';

it('names the nodes whose kubelet does not limit the processes of a pod', async () => {
  const limits: Record<string, object> = {
    bounded: { podPidsLimit: 4096 },
    unbounded: { podPidsLimit: -1 },
    silent: {},
  };
  const nodes = await nodesWithoutProcessLimit((args) => {
    if (args[1] === 'nodes') {
      return Promise.resolve(JSON.stringify({ items: Object.keys(limits).map((name) => ({ metadata: { name } })) }));
    }
    const [, name = ''] = /^\/api\/v1\/nodes\/([^/]+)\/proxy\/configz$/.exec(args.at(-1) ?? '') ?? [];
    return Promise.resolve(JSON.stringify({ kubeletconfig: limits[name] }));
  });
  expect(nodes).toEqual(['unbounded', 'silent']);
});
