/** Reasons in Chinese: every one that the server can give has a translation; a new one without it fails here. */

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { refuseConflicts } from '../../src/commands/lib/undo-conflicts.ts'
import { describeLoss, LOSS_REMEDY } from '../../src/domain/lost-commits.ts'
import { FAILURE_CLASSES, STOP_REASONS } from '../../src/domain/stop-reason.ts'
import { describeUnreadable, SET_ASIDE_REMEDY } from '../../src/domain/unreadable-row.ts'
import { timeLimitEnd } from '../../src/engine/phases/check-stop.ts'
import { failingResidents } from '../../src/kernel/residents/resident-notes.ts'
import { describeUnfinished, halfDoneError } from '../../src/kernel/undo/unfinished.ts'
import { describeError } from '../../web/src/texts/error-reasons.ts'
import { explainError, sayTitle } from '../../web/src/texts/errors.ts'
import { describeFailureClass, describeOrigin, describeStop, translateReason } from '../../web/src/texts/reasons.ts'

const ROOT = join(import.meta.dirname, '../..')
const HAN = /\p{Script=Han}/u

/** Contract: the texts of the sources that match, with `3` for what is filled in. */
function textsIn(files: string, pattern: RegExp): readonly string[] {
  return globSync(files, { cwd: ROOT })
    .filter((file) => !file.endsWith('.test.ts'))
    .flatMap((file) => [...readFileSync(join(ROOT, file), 'utf8').matchAll(pattern)])
    .map(([, text = '']) => text.replaceAll(/\$\{[^{}]*(\{[^{}]*\})?[^{}]*\}/g, '3'))
}

const untranslated = (texts: readonly string[]): readonly string[] =>
  texts.filter((text) => !HAN.test(translateReason(text, 'zh')))

test('the page: every stop reason and failure class has words in both languages', () => {
  for (const reason of STOP_REASONS) {
    assert.match(describeStop(reason, 'zh'), HAN, reason)
    assert.doesNotMatch(describeStop(reason, 'en'), /_/)
  }
  for (const failure of FAILURE_CLASSES) {
    assert.match(describeFailureClass(failure, 'zh'), HAN, failure)
    assert.match(describeFailureClass(failure, 'en'), /^[A-Z]/)
  }
})

/** Where the server makes reasons that the page shows, and how they look there. At least so many are found. */
const SOURCES: readonly (readonly [files: string, pattern: RegExp, atLeast: number])[] = [
  ['src/policy/policy-rule.ts', /\bask\(\s*[`'](.+?)[`'](?:\)|,| \+)/g, 6],
  ['src/engine/calls/gate.ts', /kind: 'ask', reason: [`'](.+?)[`'] \}/g, 3],
  ['src/kernel/cycle/planners/*.ts', /idlePlan\([^'\n]*'([^'\n]+)'/g, 2],
  ['src/kernel/cycle/planners/static.ts', /\[`([a-z ]+: .+?)`\]/g, 4],
  ['src/kernel/cycle/planners/static.ts', /'(no agent is \w+)'/g, 2],
  ['src/kernel/cycle/cycle*.ts', /(?:idle_reason: |CANCELLED = )'([^']+)'/g, 2],
  ['src/app/health.ts', /=> `(the (?:database|provider) .+?)`\)/g, 2],
  ['src/app/health.ts', /\[`(the .+?)`\]/g, 2],
  ['src/kernel/residents/resident-notes.ts', /=> `(the last .+?)`\)/g, 1],
  ['src/app/unhandled-errors.ts', /`(A background .+?)`/g, 2],
  ['src/adapters/mcp/servers.ts', /`(the MCP server .+? is down: .+?)`/g, 1],
  ['src/adapters/stores/sqlite/create-dispatches.ts', /kind: 'start', .*reason: '(.+?)'/g, 1],
  ['src/engine/phases/check-stop.ts', /kind: 'retry', until, reason: '(.+?)'/g, 1],
  ['src/engine/advance.ts', /reason: `(the behaviour .+?)`/g, 1],
]

for (const [files, pattern, atLeast] of SOURCES)
  test(`the page: the reasons in ${files} that look like ${pattern.source.slice(0, 30)} are in Chinese, too`, () => {
    const texts = textsIn(files, pattern)
    assert.ok(texts.length >= atLeast, `found only ${JSON.stringify(texts)}`)
    assert.deepEqual(untranslated(texts), [])
  })

const HALF_DONE = {
  ...{ id: 'undo-1', target: 'R', runs: ['r'], undoes: null, workspaces: [], documents: [], facts: [], cancelled: [] },
  ...({ status: 'running', created_at: 'T', ended_at: null } as const),
}

const PAUSED = 'paused until T, or until GOAL.md, STATE.md or its own files changes or a message arrives'

test('the page: reasons that are made of parts are in Chinese as a whole', () => {
  const lost = { commits: 2, records: 3, sessions: ['s1'], at_least: true, up_to: [1, 2] } as const
  const made = [
    `${describeLoss(lost)}. Do this: ${LOSS_REMEDY}`,
    `${describeUnreadable([{ table: 't', key: 'k', why: 'w' }])}. Do this: ${SET_ASIDE_REMEDY}`,
    describeUnfinished({ ...HALF_DONE, stopped: 'changed back: b.txt; not changed back: a.txt (E)' }),
    ...failingResidents([{ agent_id: 'guide', failures: 3, error: 'E' }]),
    ...['the last cycle failed: E', 'the last 3 cycles failed: 1 of 2 dispatches (a)'],
    ...['no cycle has succeeded since the kernel was started', 'no cycle since T, though one is due every 60 s'],
    'the channel lark has been disconnected for 5 min: E. Do this: tireless channels list',
    'send needs approval. Run: tireless approvals allow 1 (or deny)',
    'still running: a, b; cooling down: c; nothing new: d',
    `a: same outcome 3 times in a row; ${PAUSED}; run now: tireless once`,
    "notices do not go to the chat 5 of x: it is not paired, so it may be a stranger's; if it is yours: A; if not: B",
  ]
  for (const text of made) {
    const chinese = translateReason(text, 'zh').replaceAll(/`[^`]*`|tireless [\w -]+|\b[\w.:-]*\.md\b/g, '')
    assert.match(chinese, HAN, text)
    assert.doesNotMatch(chinese, /[a-z]{3,} [a-z]{2,}/, text)
  }
  assert.equal(translateReason('words of a model', 'zh'), 'words of a model')
})

/** What the server answers if an undo meets these conflicts. */
function refusalOf(
  conflict: Parameters<typeof refuseConflicts>[0][number],
  titles?: ReadonlyMap<string, string>,
): string {
  try {
    refuseConflicts([conflict], '2026-11-17', titles)
  } catch (thrown) {
    return (thrown as Error).message
  }
  return ''
}

test('the page: why an undo is refused is said in words that lead on, in both languages', () => {
  const open = refusalOf({ kind: 'open', run_id: '91b110fd-6e1e-e1c3-9bbb-626951fffc80', workspace: null })
  assert.equal(
    explainError(open, 'en'),
    'Nothing was undone: work is still under way (51fffc80). Stop it in Work, or answer it in Needs you.',
  )
  assert.match(explainError(open, 'zh'), /^没有撤销：还有工作没有结束（51fffc80）/)
  const titles = new Map([['r1', 'Count the words']])
  const named = refusalOf({ kind: 'open', run_id: 'r1', workspace: null }, titles)
  assert.match(explainError(named, 'en'), /^Nothing was undone: work is still under way \(Count the words\)\. Stop it/)
  const later = refusalOf({ kind: 'file', path: 'a.md', workspace: 'w', by: null })
  assert.equal(
    explainError(later, 'en'),
    [
      'Nothing was undone: later work builds on this',
      '(a.md was changed later by you or another program (w)). Undo that first.',
    ].join(' '),
  )
})

test('O7: the page says in both languages that an undo is half done, and how to end it', () => {
  const kept = [{ workspace: 'w', name: 'a.txt', why: 'failed', error: 'permission denied' }] as const
  const { message } = halfDoneError(HALF_DONE, kept, '')
  for (const [language, said] of [['en', 'The undo is half done'] as const, ['zh', '撤销只做了一半'] as const]) {
    const text = explainError(message, language)
    assert.ok(text.startsWith(said), text)
    assert.match(text, /a\.txt \(permission denied\).*tireless undo undo-1 --yes.*tireless undo undo-1 --give-up/)
  }
})

test('the page: a folder that does not exist is said in the language of the page, whatever the sentence was in', () => {
  for (const said of [
    'there is no folder or file ~/code (/home/me/code), so there would be nothing to watch',
    '没有 ~/code (/home/me/code) 这个文件夹或文件，所以没有可以关注的内容; do this: 先创建它，或换一个路径',
  ]) {
    const english = 'There is no folder or file ~/code (/home/me/code). Create it first, or name another one.'
    assert.equal(explainError(said, 'en'), english)
    assert.equal(explainError(said, 'zh'), '没有 ~/code (/home/me/code) 这个文件夹或文件。请先创建它，或换一个路径。')
  }
})

test('the page: errors read alike in all places, without codes, and in Chinese as a whole where they are known', () => {
  const refused = 'fake/fake-1: the provider refuses the request; got 400 no such field; do this: look'
  const chinese: readonly (readonly [error: string, said: string])[] = [
    [`model_refused: ${refused}`, 'fake/fake-1：服务商拒绝了请求（400 no such field）'],
    [
      `**Not finished.** ${refused}\n\nmore`,
      '**没有完成。** fake/fake-1：服务商拒绝了请求（400 no such field）\n\nmore',
    ],
    ['the run exceeded its time limit of 1800000 ms', '超过了时间上限 30 分钟'],
    [timeLimitEnd({ ms: 1_800_000 } as Parameters<typeof timeLimitEnd>[0]).error ?? '', '超过了时间上限 30 分钟'],
    ['T001 did not pass its check in 3 rounds', 'T001 做了 3 轮，仍没有通过检查'],
    ['the timeout is not valid; got soon; expected a duration', '“soon”不是时长，请写成 30m、2h、1d 这样。'],
    ['the address is not valid', '地址不对。它以 http:// 或 https:// 开头。'],
  ]
  for (const [error, said] of chinese)
    for (const say of [explainError, describeError, translateReason]) assert.equal(say(error, 'zh'), said)
  assert.equal(
    explainError(`model_refused: ${refused}`, 'en'),
    'fake/fake-1: the provider refuses the request (400 no such field)',
  )
  assert.equal(
    explainError('the run exceeded its time limit of 1800000 ms', 'en'),
    'the run exceeded its time limit of 30 minutes',
  )
  assert.equal(explainError('Notes: all is well', 'zh'), 'Notes: all is well', 'an answer stays as it is')
  assert.match(describeStop('model_limited: slow', 'zh'), /稍后重试/)
  const skill = 'the skill invoices changed after its approval and is disabled. Review it with tireless skills scan'
  assert.match(translateReason(skill, 'zh'), /^技能 invoices 在批准后/)
})

test('the page: what a run waits for names no command, because the page has a button for it', () => {
  const reason = 'send needs approval. Run: tireless approvals allow 1 (or deny)'
  for (const say of [translateReason, describeStop]) assert.equal(say(reason, 'en'), 'send needs your approval')
  assert.equal(describeOrigin('written by the model', 'zh'), '模型写的')
  assert.equal(describeOrigin('written by the model', 'en'), 'written by the model')
  assert.equal(sayTitle('your message', 'zh'), '你的消息')
})
