import { describe, expect, it } from '@jest/globals';
import { prune } from './pruned-modules.ts';

describe('prune', () => {
  const text = 'import (\n\t"a"\n\t"b"\n)\n\tif x.Docker != nil {\n\t\tuse(x)\n\t}\nend\n';

  it('removes the lines that match', () => {
    expect(prune(text, { file: 'f.go', remove: [/^\t"b"$/] })).toBe(text.replace('\t"b"\n', ''));
  });

  it('replaces a text that spans lines', () => {
    const replace = [[/^\tif x\.Docker != nil {$[^]*?^\t}\n/m, '']] as const;
    expect(prune(text, { file: 'f.go', replace })).toBe('import (\n\t"a"\n\t"b"\n)\nend\n');
  });

  it.each([{ remove: [/^\t"c"$/] }, { replace: [['no such text', '']] as const }])(
    'refuses a file in which it finds nothing to change: %o',
    (change) => {
      expect(() => prune(text, { file: 'f.go', ...change })).toThrow('the module changed');
    },
  );
});
