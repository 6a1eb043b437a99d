import type { Step, Workflow } from './workflow-schema.ts';

/** What the commands of a workflow can name. */
export interface Repository {
  scripts: ReadonlySet<string>;
  hasFile: (path: string) => boolean;
}

/** Returns the commands of a script that name something that the repository does not have. */
function missingCommands(script: string, { scripts, hasFile }: Repository): string[] {
  const named = [...script.matchAll(/\bnpm (?:run (?:-s |--silent )?)?([\w:-]+)/g)].map(([, name = '']) => name);
  const files = [...script.matchAll(/(?:^|\s)((?:\.ci|test|api|operator|cli)\/[\w./-]+)/gm)].map(
    ([, path = '']) => path,
  );
  return [
    ...named.filter((name) => !scripts.has(name)).map((name) => `there is no npm script ${name}`),
    ...files.filter((path) => !hasFile(path)).map((path) => `there is no file ${path}`),
  ];
}

function stepProblems(step: Step, repository: Repository): string[] {
  if ('run' in step) {
    // An expression becomes part of the script, so a branch's name could run commands.
    const injected = step.run.includes('${{') ? [`an expression in a script: pass it as a variable`] : [];
    return [...injected, ...missingCommands(step.run, repository)];
  }
  const isCheckout = step.uses.startsWith('actions/checkout@');
  return isCheckout && step.with?.['persist-credentials'] !== false
    ? ['checkout must set persist-credentials: false, or all later steps can use the token']
    : [];
}

const pinned = /uses: [\w-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/;

/** Returns what a workflow does that it should not: unpinned actions, injections, missing scripts, too many permissions. */
export function workflowProblems(text: string, workflow: Workflow, repository: Repository): string[] {
  const problems = text
    .split('\n')
    .filter((line) => /^\s*(- )?uses:/.test(line) && !pinned.test(line))
    .map((line) => `${line.trim()}: name the commit, and its version in a comment`);
  for (const [name, job] of Object.entries(workflow.jobs)) {
    for (const step of job.steps) problems.push(...stepProblems(step, repository).map((one) => `${name}: ${one}`));
    const installs = job.steps.findIndex((step) => 'run' in step && step.run === 'sh test/install-dependencies');
    const reads = job.steps.findIndex((step) => 'run' in step && JSON.stringify(step).includes('${{ secrets.'));
    if (reads >= 0 && (installs < 0 || installs > reads)) {
      problems.push(`${name}: reads secrets before \`sh test/install-dependencies\`, so that scripts of packages can`);
    }
    const isOpen = 'pull_request' in workflow.on;
    const writes = Object.entries(job.permissions).filter(([, level]) => level === 'write');
    if (writes.length > 0 && job.environment === undefined) {
      problems.push(
        `${name}: writes ${writes.map(([what]) => what).join(', ')} without an environment that reviewers guard`,
      );
    }
    const usesSecrets = /\$\{\{[^}]*secrets\./.test(JSON.stringify(job));
    if (isOpen && (usesSecrets || writes.length > 0)) {
      problems.push(`${name}: a pull request can run it, so it must neither write nor read secrets`);
    }
  }
  return problems;
}
