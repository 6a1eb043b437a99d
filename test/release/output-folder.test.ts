import { expect, test } from '@jest/globals';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOutputFolder } from './output-folder.ts';

test('empties the folder of a former release, and no other one', () => {
  const parent = mkdtempSync(join(tmpdir(), 'coppice-output-'));
  try {
    const folder = join(parent, 'release');
    createOutputFolder(folder);
    createOutputFolder(folder);
    writeFileSync(join(folder, 'notes'), 'mine');
    expect(() => createOutputFolder(folder)).toThrow('has files of no release');
    expect(readdirSync(folder)).toEqual(['notes']);
    writeFileSync(join(folder, 'SHA256SUMS'), '');
    createOutputFolder(folder);
    expect(readdirSync(folder)).toEqual([]);
  } finally {
    rmSync(parent, { recursive: true });
  }
});
