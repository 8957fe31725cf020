/**
 * The task of counting words, done wrong in the first round and right in the second, with a workspace for it. The same
 * answers come from a model in the process, and from a provider that is asked over HTTP.
 */

import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Script } from '../../src/testing/provider-server.ts'
import type { ScriptedAnswer } from '../../src/testing/scripted-model.ts'
import { git } from './git-repository.ts'
import { type BehaviourName, call, finish, pdcaModel, SIGNS } from './pdca-script.ts'

export const TASK = 'Write a script that counts words in the inbox, test it, and put the result into REPORT.md'

/** A conversation of one behaviour: its first message contains `about`. */
interface Conversation {
  readonly behaviour: BehaviourName
  readonly about: string
  readonly turns: readonly ScriptedAnswer[]
}

const working = (todo: string, about: string, work: ScriptedAnswer): Conversation => ({
  ...{ behaviour: 'do', about },
  turns: [work, call('todo_done', { todo, reason: 'written' }), finish('written')],
})

const bash = (command: string): ScriptedAnswer => call('bash', { command })

const passing = (todo: string, answer: string): Conversation => ({
  ...{ behaviour: 'check', about: `Current todo: - ${todo}` },
  turns: [call('todo_pass', { todo, reason: 'looked at it' }), finish(answer)],
})

/** The first one that fits is meant. The script is wrong in the first round, and right in the second. */
const CONVERSATIONS: readonly Conversation[] = [
  {
    ...{ behaviour: 'resolve_router', about: TASK },
    turns: [call('route', { new: 'Words of the inbox', reply: 'I will count them.' })],
  },
  {
    ...{ behaviour: 'plan', about: TASK },
    turns: [
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
      call('todo_add', { title: 'explain the number in NOTES.md', deps: ['T002'] }),
      finish('I will write the script and the report.'),
    ],
  },
  working('T001', 'T001: with the notes', bash('echo "cat inbox/* | wc -w | tr -d \' \'" > count.sh')),
  working('T001', 'Current todo: - T001', bash('echo "echo 4" > count.sh')),
  working('T002', 'Current todo: - T002', bash('echo "words: $(sh count.sh)" > REPORT.md')),
  working('T003', 'Current todo: - T003', call('create_file', { path: 'NOTES.md', content: 'Counted by count.sh.\n' })),
  {
    ...{ behaviour: 'adjust', about: 'Current todo: - T001' },
    turns: [
      call('todo_note', { todo: 'T001', reason: 'it did not count, it printed a number' }),
      finish('count for real'),
    ],
  },
  passing('T001', 'the script counts'),
  passing('T002', 'the report is there'),
  passing('T003', 'REPORT.md holds the number of words.'),
]

/** The behaviours that a run of the task goes through. */
export const WORD_COUNTER_MOVES = ['do', 'check', 'adjust', 'do', 'check', 'do', 'check', 'do', 'check']

/** In the process of the test. */
export const wordCounter = () =>
  pdcaModel(({ behaviour, turn, first }): ScriptedAnswer => {
    const found = CONVERSATIONS.find((one) => one.behaviour === behaviour && first.includes(one.about))
    return found?.turns[turn] ?? finish('done')
  })

/** Over HTTP. */
export const wordCounterScript = (): Script => {
  const conversations = CONVERSATIONS.map(({ behaviour, about: match, turns }) => ({
    ...{ match, system: SIGNS[behaviour] },
    turns: turns.map(({ calls }) => ({ calls })),
  }))
  return { conversations } as Script
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

/** Contract: writes the shipped assistant into the home; all its sessions work in this workspace. */
export function writeAssistant(home: string, workspace: string): void {
  const folder = join(home, 'agents', 'assistant')
  cpSync(join(import.meta.dirname, '../../agents/assistant'), folder, { recursive: true })
  const settings = readFileSync(join(folder, 'agent.yaml'), 'utf8')
  writeFileSync(join(folder, 'agent.yaml'), settings.replace(/^workspace: null.*$/m, `workspace: ${workspace}`))
}
