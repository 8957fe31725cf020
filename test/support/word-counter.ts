/** The task of counting words, done wrong in the first round and right in the second, with a workspace for it. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ScriptedAnswer } from '../../src/testing/scripted-model.ts'
import { git } from './git-repository.ts'
import { call, finish, pdcaModel } from './pdca-script.ts'

export const TASK = 'Write a script that counts words in the inbox, test it, and put the result into REPORT.md'

/** The script is wrong in the first round, and right in the second. */
export const wordCounter = () =>
  pdcaModel(({ behaviour, turn, first }): ScriptedAnswer => {
    const steps = STEPS[`${behaviour} ${/Current todo: - (T\d+)/.exec(first)?.[1] ?? ''}`.trim()] ?? STEPS[behaviour]
    const round = first.includes('did not count') ? 1 : 0
    return steps?.[round]?.[turn] ?? steps?.[0]?.[turn] ?? finish('done')
  })

const STEPS: Readonly<Record<string, readonly (readonly ScriptedAnswer[])[]>> = {
  plan: [
    [
      call('list_files', { path: '.' }),
      call('todo_add', {
        title: 'write count.sh, which counts the words of the inbox',
        checks: [{ kind: 'command', run: 'test "$(sh count.sh)" = 5' }],
      }),
      call('todo_add', {
        title: 'write REPORT.md',
        deps: ['T001'],
        checks: [{ kind: 'file', path: 'REPORT.md', contains: 'words: 5' }],
      }),
      finish('I will write the script and the report.'),
    ],
  ],
  'do T001': [
    [
      call('bash', { command: 'echo "echo 4" > count.sh' }),
      call('todo_done', { todo: 'T001', reason: 'written' }),
      finish('written'),
    ],
    [
      call('bash', { command: 'echo "cat inbox/* | wc -w | tr -d \' \'" > count.sh' }),
      call('todo_done', { todo: 'T001', reason: 'it really counts now' }),
      finish('written'),
    ],
  ],
  'do T002': [
    [
      call('bash', { command: 'echo "words: $(sh count.sh)" > REPORT.md' }),
      call('todo_done', { todo: 'T002', reason: 'written' }),
      finish('written'),
    ],
  ],
  adjust: [
    [call('todo_note', { todo: 'T001', reason: 'it did not count, it printed a number' }), finish('count for real')],
  ],
  'check T001': [[call('todo_pass', { todo: 'T001', reason: 'counts' }), finish('the script counts')]],
  'check T002': [
    [call('todo_pass', { todo: 'T002', reason: 'read it' }), finish('REPORT.md holds the number of words.')],
  ],
}

/** Contract: makes the folder a git repository with an inbox of five words. */
export function makeInbox(workspace: string): string {
  mkdirSync(join(workspace, 'inbox'), { recursive: true })
  writeFileSync(join(workspace, 'inbox/a.txt'), 'one two three\n')
  writeFileSync(join(workspace, 'inbox/b.txt'), 'four five\n')
  git(workspace, 'init', '-q')
  git(workspace, 'add', '.')
  git(workspace, 'commit', '-qm', 'inbox')
  return workspace
}
