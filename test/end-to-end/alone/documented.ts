import { mkdtempSync, readFileSync, symlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROGRAMS_FOLDER, REPOSITORY_ROOT } from '../../support/paths.ts';
import { run } from '../../support/run.ts';
import { codeBlocks, codeOf } from '../../docs/code-blocks.ts';

/** A reader who pastes a page's blocks into a shell, in a folder next to the chart. */
export class Reader {
  readonly #pages: readonly string[];
  readonly #kubeconfig: string;
  readonly folder = mkdtempSync(join(tmpdir(), 'reader-'));

  constructor(pages: readonly string[], kubeconfig: string) {
    this.#pages = pages;
    this.#kubeconfig = kubeconfig;
    symlinkSync(join(REPOSITORY_ROOT, 'charts'), join(this.folder, 'charts'));
  }

  /** Runs the block of this name; @throws CommandError if one of its commands fails. @returns its output */
  paste(block: string, variables: Record<string, string> = {}): Promise<string> {
    return run('sh', ['-eu', '-c', this.#codeOf(block)], {
      cwd: this.folder,
      env: { PATH: `${PROGRAMS_FOLDER}:${process.env['PATH'] ?? ''}`, KUBECONFIG: this.#kubeconfig, ...variables },
      deadline: 240,
    });
  }

  #codeOf(block: string): string {
    const page = this.#pages.find((one) =>
      codeBlocks(readFileSync(join(REPOSITORY_ROOT, one), 'utf8')).some(({ name }) => name === block),
    );
    if (page === undefined) throw new Error(`no page has a code block of the name ${block}`);
    return codeOf(page, block);
  }

  leave(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}
