/** Commands change the owner's files where they are, and nothing of them but what was asked. */

import assert from 'node:assert/strict'
import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { startTireless, tireless } from './support/command-line.ts'
import { freshFolder, waitUntil } from './support/open-app.ts'

const WRITTEN = [
  '\uFEFF# mine',
  'budget:   # money',
  '  per_day_usd:   3.0   # a day',
  '',
  '',
  'retention: {days: ~,}',
  'kernel:',
  '    agents:',
  '    - agent_id: "one"   # the first',
  '      prompt: >-',
  '         Say',
  '         hello.',
].join('\r\n')

describe('I7: files of the owner that a command changes', () => {
  test('I7: a linked tireless.yaml stays a link; its file differs only where it was changed', async (t) => {
    const [home, dotfiles] = [freshFolder(t), freshFolder(t, 'dotfiles')]
    const file = join(dotfiles, 'tireless.yaml')
    writeFileSync(file, WRITTEN)
    symlinkSync(file, join(home, 'tireless.yaml'))
    const { exit, stderr } = await tireless(home, 'budget', 'set', 'per_day_usd', '4')
    assert.equal(exit, 0, stderr)
    assert.ok(lstatSync(join(home, 'tireless.yaml')).isSymbolicLink(), 'the link stays')
    assert.equal(readFileSync(file, 'utf8'), WRITTEN.replace('3.0', '4'))
    assert.equal((await tireless(home, 'agent', 'disable', 'one')).exit, 0)
    assert.equal(readFileSync(file, 'utf8'), `${WRITTEN.replace('3.0', '4')}\r\n      enabled: false`)
  })

  test('I7: so does one beside a running kernel, and a link that leads to no file yet', async (t) => {
    const [home, dotfiles] = [freshFolder(t), freshFolder(t, 'dotfiles')]
    symlinkSync(join(dotfiles, 'new.yaml'), join(dotfiles, 'between.yaml'))
    symlinkSync(join(dotfiles, 'between.yaml'), join(home, 'tireless.yaml'))
    const kernel = startTireless(t, home, 'start')
    await waitUntil(() => kernel.output().includes('http') || kernel.errors().includes('http'))
    assert.equal((await tireless(home, 'budget', 'set', 'per_day_usd', '4')).exit, 0)
    assert.ok(lstatSync(join(home, 'tireless.yaml')).isSymbolicLink(), 'the link stays')
    assert.equal(readFileSync(join(dotfiles, 'new.yaml'), 'utf8'), 'budget:\n  per_day_usd: 4\n')
  })

  test('I7: linked files of an agent stay links, and keep how they were written', async (t) => {
    const [home, dotfiles] = [freshFolder(t), freshFolder(t, 'dotfiles')]
    mkdirSync(join(home, 'agents/one'), { recursive: true })
    const written = '# mine\r\nprompt: "Say # hello."\r\n\r\n\r\npriority:   1 # low'
    for (const [name, text] of [
      ['agent.yaml', written],
      ['role.md', 'Careful.\n'],
    ] as const) {
      writeFileSync(join(dotfiles, name), text)
      symlinkSync(join(dotfiles, name), join(home, 'agents/one', name))
    }
    const { exit, stderr } = await tireless(home, 'agent', 'edit', 'one', '--priority', '2', '--role', 'Bold.')
    assert.equal(exit, 0, stderr)
    assert.equal(readFileSync(join(dotfiles, 'agent.yaml'), 'utf8'), written.replace('  1 #', '  2 #'))
    assert.equal(readFileSync(join(dotfiles, 'role.md'), 'utf8'), 'Bold.')
    for (const name of ['agent.yaml', 'role.md']) assert.ok(lstatSync(join(home, 'agents/one', name)).isSymbolicLink())
  })

  test('I7: a change that would change more than was asked is refused, and nothing is written', async (t) => {
    const home = freshFolder(t)
    const text =
      'budget: &caps { per_day_usd: 3 }\nkernel:\n  agents:\n    - { agent_id: a, prompt: b, metadata: *caps }\n'
    writeFileSync(join(home, 'tireless.yaml'), text)
    const { exit, stderr } = await tireless(home, 'budget', 'set', 'per_day_usd', '4')
    assert.equal(exit, 1, stderr)
    assert.match(
      stderr,
      /budget\.per_day_usd cannot be changed by a command .*nothing was changed; do this: change it/s,
    )
    assert.equal(readFileSync(join(home, 'tireless.yaml'), 'utf8'), text)
  })
})
