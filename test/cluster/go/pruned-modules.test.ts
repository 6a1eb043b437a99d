import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { layOutPruned, prune } from './pruned-modules.ts';

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

describe('layOutPruned', () => {
  it('copies a read-only module into folders that its user can change', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pruned-modules-'));
    const source = join(folder, 'source');
    mkdirSync(join(source, 'pkg'), { recursive: true });
    writeFileSync(join(source, 'pkg/a.go'), 'one\ntwo\n');
    writeFileSync(join(source, 'pkg/unused.go'), '');
    for (const path of [join(source, 'pkg'), source]) chmodSync(path, 0o555);
    try {
      const files = [{ file: 'pkg/a.go', remove: [/^one$/] }];
      const pruned = { folder: 'm', module: 'm', files, without: ['pkg/unused.go'], overlay: {} };
      const target = join(folder, 'target');
      layOutPruned(source, target, folder, pruned);
      expect(readFileSync(join(target, 'pkg/a.go'), 'utf8')).toBe('two\n');
      expect(() => statSync(join(target, 'pkg/unused.go'))).toThrow('ENOENT');
      for (const path of [target, join(target, 'pkg')]) expect(statSync(path).mode & 0o777).toBe(0o755);
    } finally {
      for (const path of [source, join(source, 'pkg')]) chmodSync(path, 0o755);
      rmSync(folder, { recursive: true });
    }
  });
});
