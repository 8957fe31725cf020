import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { COMMAND_NAMES, findCommand, loadCommand, loadCommands } from './registry.ts'

test('every command is registered under its own name, and found by words that start with it', async () => {
  const commands = await loadCommands()
  assert.deepEqual(
    commands.map(({ name }) => name),
    COMMAND_NAMES,
  )
  for (const command of commands) {
    assert.equal(await loadCommand(command.name), command)
    assert.equal(await findCommand([...command.name.split(' '), 'and more']), command)
  }
})

test('other names and words find no command', async () => {
  assert.equal(await loadCommand('queue'), undefined)
  assert.equal(await loadCommand('run this'), undefined)
  assert.equal(await findCommand(['queue', 'toString']), undefined)
  assert.equal(await findCommand(['constructor']), undefined)
  assert.equal(await findCommand([]), undefined)
})

test('a command is loaded without the files of other commands', () => {
  const script = `
    import { registerHooks } from 'node:module'
    const files = []
    registerHooks({
      load: (url, context, next) => {
        const [, file] = /commands\\/([\\w-]+)\\.ts$/.exec(url) ?? []
        if (file !== undefined) files.push(file)
        return next(url, context)
      },
    })
    const { loadCommand } = await import(${JSON.stringify(import.meta.resolve('./registry.ts'))})
    await loadCommand('memory list')
    console.log(files.join())`
  const loaded = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  assert.equal(loaded.trim(), 'memory')
})
