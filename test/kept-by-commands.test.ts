/** Commands that remove or replace keep what was there, say where, and say how to bring it back. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { tireless, tirelessJson, tirelessWith } from './support/command-line.ts'
import { freshFolder } from './support/open-app.ts'

const BLOCK = `kernel:
  timezone: UTC
  agents:
    # writes the news
    - agent_id: one # the first
      prompt: |-
        Write the news.

          - of $\${HOME}
      schedule: "0 9 * * *" # at nine
      # priority: 3
      tools: [view_file]
    # reads them
    - agent_id: two
      prompt: Read.
`

type Shown = Record<string, unknown>

async function showAgent(home: string, id: string): Promise<Shown> {
  const { source, ...shown } = await tirelessJson<Shown>(home, 'agent', 'show', id)
  assert.equal(shown.exit, 0, id)
  return shown
}

interface Deleted {
  readonly kept: { readonly file: string; readonly folder: string; readonly config: string | null }
  readonly bring_back: readonly string[]
}

/** Does what the output says, as a person would. The commands of the program are run by the test. */
async function bringBack(home: string, { bring_back }: Pick<Deleted, 'bring_back'>): Promise<void> {
  for (const line of bring_back) {
    const words = execFileSync('sh', ['-c', `printf '%s\\n' ${line}`], { encoding: 'utf8' })
      .trimEnd()
      .split('\n')
    if (words[0] !== 'tireless') execFileSync('sh', ['-c', line])
    else assert.equal((await tireless(home, ...words.slice(1))).exit, 0, line)
  }
}

describe('E17: a deleted agent', () => {
  test('E17: of tireless.yaml comes back as it was, with its comments, files and schedules', async (t) => {
    const home = freshFolder(t, 'a home')
    writeFileSync(join(home, 'tireless.yaml'), BLOCK)
    mkdirSync(join(home, 'agents/one/skills'), { recursive: true })
    writeFileSync(join(home, 'agents/one/role.md'), 'You are careful.\n')
    const added = ['--every', '90m', '--id', 'often', '--prompt', 'it\'s "so" $HOME']
    await tireless(home, 'schedule', 'add', '--agent', 'one', ...added)
    await tireless(home, 'schedule', 'pause', 'often')
    const [before, schedules] = [await showAgent(home, 'one'), await tirelessJson(home, 'schedule', 'list')]
    const deleted = await tirelessJson<Deleted>(home, 'agent', 'delete', 'one', '--yes')
    assert.equal(
      readFileSync(join(home, 'tireless.yaml'), 'utf8'),
      BLOCK.replace(/ {4}- agent_id: one(.*\n)*? +tools: .*\n/, ''),
    )
    assert.equal(readFileSync(deleted.kept.config ?? '', 'utf8'), BLOCK)
    assert.equal(existsSync(join(home, 'agents/one')), false)
    const file = readFileSync(deleted.kept.file, 'utf8')
    for (const text of ['# writes the news', 'agent_id: one # the first', '# at nine', '# priority: 3'])
      assert.ok(file.includes(text), text)
    assert.match((await tireless(home, 'agent', 'show', 'one')).stderr, /no such agent/)

    await bringBack(home, deleted)
    assert.deepEqual({ ...(await showAgent(home, 'one')), revision: '' }, { ...before, revision: '' })
    const again = await tirelessJson(home, 'schedule', 'list')
    const undated = (list: Shown): unknown =>
      (list.items as Shown[])
        .map(({ created_at, next, ...row }) => row)
        .toSorted((a, b) => (String(a.id) < String(b.id) ? -1 : 1))
    assert.deepEqual(undated(again), undated(schedules))
  })

  test('E17: deleted twice, both copies stay, and nothing takes over the files of the first', async (t) => {
    const home = freshFolder(t)
    const deletedFolders: string[] = []
    for (const role of ['first', 'second']) {
      assert.equal((await tireless(home, 'agent', 'new', 'write a poem every day', '--id', 'poet')).exit, 0)
      assert.equal(existsSync(join(home, 'agents/poet/role.md')), false, 'a new agent has no role of another')
      await tireless(home, 'agent', 'edit', 'poet', '--role', role)
      const said = await tireless(home, 'agent', 'delete', 'poet', '--yes')
      const [, folder = ''] = /description and files are kept: (.*)\n/.exec(said.stdout) ?? []
      assert.match(said.stdout, /\nBring it back:\n {2}mv .*agents\/\.deleted\/poet.* .*agents\/poet\n$/)
      deletedFolders.push(folder)
    }
    assert.deepEqual(
      deletedFolders.map((folder) => readFileSync(join(folder, 'role.md'), 'utf8')),
      ['first', 'second'],
    )
    const zh = await tirelessWith(
      { ...process.env, LANG: 'zh_CN.UTF-8', LC_ALL: '' },
      home,
      ...'agent new'.split(' '),
      '每天写一首诗',
      '--id',
      'poet',
    )
    assert.equal(zh.exit, 0, zh.stderr)
    const deleted = await tirelessWith(
      { ...process.env, LANG: 'zh_CN.UTF-8', LC_ALL: '' },
      home,
      'agent',
      'delete',
      'poet',
      '--yes',
    )
    assert.match(deleted.stdout, /它的说明和文件保留在：.*poet-3\n(.*\n)*恢复它：\n {2}mv /)
  })

  test('E17: of a linked folder keeps the link; the folder that it leads to is not touched', async (t) => {
    const [home, dotfiles] = [freshFolder(t), freshFolder(t, 'dotfiles')]
    writeFileSync(join(dotfiles, 'agent.yaml'), 'prompt: Say hello. # mine\n')
    writeFileSync(join(dotfiles, 'role.md'), 'Bold.\n')
    mkdirSync(join(home, 'agents'))
    symlinkSync(dotfiles, join(home, 'agents/linked'))
    const before = await showAgent(home, 'linked')
    const deleted = await tirelessJson<Deleted>(home, 'agent', 'delete', 'linked', '--yes')
    assert.deepEqual(readdirSync(dotfiles).toSorted(), ['agent.yaml', 'role.md'])
    assert.equal(readFileSync(deleted.kept.file, 'utf8'), 'prompt: Say hello. # mine\n')
    await bringBack(home, deleted)
    assert.ok(lstatSync(join(home, 'agents/linked')).isSymbolicLink())
    assert.deepEqual(await showAgent(home, 'linked'), before)
  })
})

describe('E17: files in the folder of a new agent', () => {
  test('E17: are not taken over unasked, whether a deleted agent or a person left them', async (t) => {
    const home = freshFolder(t)
    mkdirSync(join(home, 'agents/hand/behaviours'), { recursive: true })
    writeFileSync(join(home, 'agents/hand/role.md'), 'You delete everything.\n')
    const create = (...more: string[]) => tireless(home, 'agent', 'new', 'write a poem every day', ...more)
    const refused = await create('--id', 'hand')
    assert.equal(refused.exit, 1)
    assert.match(refused.stderr, /conflict: .*agents\/hand has files.*got behaviours, role\.md; .*--keep-files/)
    assert.match((await create('--id', 'HAND', '--dry-run')).stdout, /Would create HAND/)
    assert.equal((await create('--id', 'hand', '--dry-run')).exit, 1)
    assert.equal(existsSync(join(home, 'agents/hand/agent.yaml')), false)

    assert.equal((await create('--id', 'hand', '--keep-files')).exit, 0)
    assert.equal((await tirelessJson<Shown>(home, 'agent', 'show', 'hand')).role, 'You delete everything.\n')

    const { agent_id } = await tirelessJson<Shown>(home, 'agent', 'new', 'count the files every day', '--dry-run')
    mkdirSync(join(home, 'agents', String(agent_id)))
    writeFileSync(join(home, 'agents', String(agent_id), 'self.md'), 'I was here.\n')
    const other = await tirelessJson<Shown>(home, 'agent', 'new', 'count the files every day')
    assert.equal(other.agent_id, `${agent_id}-2`, 'another id is picked')
  })
})

describe('I7: texts that a command replaces', () => {
  test('I7: are kept, each version, and the output says where', async (t) => {
    const home = freshFolder(t)
    await tireless(home, 'agent', 'new', 'write a poem every day', '--id', 'poet')
    const edit = (...more: string[]) => tirelessJson<{ kept: string[] }>(home, 'agent', 'edit', 'poet', ...more)
    assert.deepEqual((await edit('--role', 'one\n')).kept, [], 'there was none')
    const kept = [...(await edit('--role', 'two\n')).kept, ...(await edit('--role', '')).kept]
    assert.deepEqual(
      kept.map((file) => readFileSync(file, 'utf8')),
      ['one\n', 'two\n'],
    )
    assert.equal(existsSync(join(home, 'agents/poet/role.md')), false)
    const prompt = readFileSync(join(home, 'agents/poet/agent.yaml'), 'utf8')
    const said = await tireless(home, 'agent', 'edit', 'poet', '--prompt', 'Say hello.')
    const [, copy = ''] = /The file as it was before: (.*)\n/.exec(said.stderr) ?? []
    assert.equal(readFileSync(copy, 'utf8'), prompt)
    assert.equal(lstatSync(copy).mode & 0o777, 0o600)
    const zh = { ...process.env, LANG: 'zh_CN.UTF-8', LC_ALL: '' }
    assert.match((await tirelessWith(zh, home, 'agent', 'edit', 'poet', '--self', 'x')).stderr, /^$/)
    assert.match(
      (await tirelessWith(zh, home, 'agent', 'edit', 'poet', '--self', '')).stderr,
      /修改前的文件：.*self\.md\/0001-.*\.md\n/,
    )
  })

  test('I7: an added schedule that is removed comes back with the command that is printed', async (t) => {
    const home = freshFolder(t)
    await tireless(home, 'agent', 'new', 'write a poem every day', '--id', 'poet')
    await tireless(home, 'schedule', 'add', '--agent', 'poet', '--cron', '0 9 * * 1', '--id', 'weekly')
    const removed = await tireless(home, 'schedule', 'remove', 'weekly')
    const [, line = ''] = /Add it again: (.*)\n/.exec(removed.stdout) ?? []
    await bringBack(home, { bring_back: [line] })
    assert.match((await tireless(home, 'schedule', 'list')).stdout, /weekly/)
  })
})
