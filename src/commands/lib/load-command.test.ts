import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { findCommand, loadCommand } from './load-command.ts'
import { COMMANDS } from './registry.ts'

test('every command is found by its name, and by words that start with it', async () => {
  for (const command of COMMANDS) {
    assert.equal(await loadCommand(command.name), command)
    assert.equal(await findCommand([...command.name.split(' '), 'and more']), command)
  }
  assert.equal(await loadCommand('queue'), undefined)
  assert.equal(await loadCommand('run this'), undefined)
  assert.equal(await findCommand(['queue', 'toString']), undefined)
  assert.equal(await findCommand(['constructor']), undefined)
  assert.equal(await findCommand([]), undefined)
})

test('no command needs the whole registry to be loaded', () => {
  const script = `
    import { registerHooks } from 'node:module'
    const all = []
    registerHooks({
      load: (url, context, next) => {
        if (url.endsWith('commands/lib/registry.ts')) all.push(process.name)
        return next(url, context)
      },
    })
    const { loadCommand } = await import(${JSON.stringify(import.meta.resolve('./load-command.ts'))})
    for (process.name of ${JSON.stringify(COMMANDS.map(({ name }) => name))}) await loadCommand(process.name)
    console.log(all.join())`
  const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  assert.equal(loaded.trim(), '', 'commands that are missing in FILES')
})
