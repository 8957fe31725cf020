import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { definePlugin, type Plugin, type PluginHost } from '../ports/plugin.ts'
import { FakeClock } from '../testing/fake-clock.ts'
import { createHost } from './host.ts'

declare module '../ports/plugin.ts' {
  interface Services {
    readonly letters: string[]
    readonly digits: number[]
  }
}

/** Wraps a plugin so that its lifecycle calls are logged. */
function logCalls(log: string[], plugin: Plugin): Plugin {
  return definePlugin({
    ...plugin,
    async setup(host) {
      log.push(`setup ${plugin.name}`)
      await plugin.setup?.(host)
    },
    async start(host) {
      log.push(`start ${plugin.name}`)
      await plugin.start?.(host)
    },
    async stop() {
      log.push(`stop ${plugin.name}`)
      await plugin.stop?.()
    },
  })
}

const letters: Plugin = { name: 'letters', provides: ['letters'], setup: (host) => host.provide('letters', ['a']) }
const digits: Plugin = {
  name: 'digits',
  needs: ['letters'],
  provides: ['digits'],
  setup: (host) => host.provide('digits', [host.get('letters').length]),
}
const reader: Plugin = { name: 'reader', needs: ['digits'] }

const host = (...plugins: Plugin[]) => createHost(new FakeClock()).use(...plugins)
const invalid = (message: RegExp) => (error: Error & { code?: string }) =>
  error.code === 'plugin_invalid' && message.test(error.message)

describe('host (K1)', () => {
  test('set-up and start follow dependencies, not the order of use; stop is in reverse order', async () => {
    const log: string[] = []
    const subject = host(...[reader, digits, letters].map((plugin) => logCalls(log, plugin)))
    await subject.start()
    assert.deepEqual(subject.service('digits'), [1])
    await subject.stop()
    await subject.stop()
    const order = ['letters', 'digits', 'reader']
    const expected = [
      ...order.map((name) => `setup ${name}`),
      ...order.map((name) => `start ${name}`),
      ...order.toReversed().map((name) => `stop ${name}`),
    ]
    assert.deepEqual(log, expected)
  })

  test('I10: a throw in start names the plugin and rolls back in reverse order', async () => {
    const log: string[] = []
    const broken: Plugin = {
      name: 'broken',
      needs: ['digits'],
      start: () => Promise.reject(new RangeError('no more ports')),
    }
    const subject = host(...[letters, digits, broken, reader].map((plugin) => logCalls(log, plugin)))
    await assert.rejects(subject.start(), {
      code: 'plugin_failed',
      message: /the plugin broken failed in start; got no more ports/,
    })
    assert.deepEqual(
      log.filter((line) => line.startsWith('stop')),
      ['stop reader', 'stop broken', 'stop digits', 'stop letters'],
    )
    await subject.stop()
    assert.equal(log.filter((line) => line === 'stop letters').length, 1)
  })

  test('I10: a throw in setup stops only the plugins that were set up before', async () => {
    const log: string[] = []
    const broken: Plugin = { name: 'broken', needs: ['letters'], setup: () => Promise.reject(new Error('no')) }
    const subject = host(...[letters, broken, digits].map((plugin) => logCalls(log, plugin)))
    await assert.rejects(subject.start(), /the plugin broken failed in setup/)
    assert.deepEqual(log, ['setup letters', 'setup broken', 'stop letters'])
  })

  test('I10: a plugin that hangs in stop is abandoned at its deadline; the others stop, and stop rejects', async () => {
    const clock = new FakeClock()
    const log: string[] = []
    const hanging: Plugin = {
      name: 'hanging',
      needs: ['letters'],
      stop: () => new Promise(() => {}),
      stopWithinMs: 500,
    }
    const throwing: Plugin = { name: 'throwing', needs: ['letters'], stop: () => Promise.reject(new Error('stuck')) }
    const subject = createHost(clock).use(...[letters, hanging, throwing].map((plugin) => logCalls(log, plugin)))
    await subject.start()
    const stopped = assert.rejects(subject.stop(), {
      code: 'plugin_failed',
      message: /throwing: stuck; hanging: did not stop within 500 ms/,
    })
    await clock.advance(500)
    await stopped
    assert.deepEqual(log.slice(-3), ['stop throwing', 'stop hanging', 'stop letters'])
  })

  test('a service with two providers, none, or a circular need is refused before any set-up', async () => {
    const log: string[] = []
    const starting = (...plugins: Plugin[]) => host(...plugins.map((plugin) => logCalls(log, plugin))).start()
    await assert.rejects(
      starting(letters, { ...letters, name: 'more' }),
      invalid(/letters is provided by two plugins; got letters and more/),
    )
    await assert.rejects(
      starting(digits),
      invalid(/the plugin digits needs the service letters, which no plugin provides; expected one of digits/),
    )
    const circle = [
      { ...digits, name: 'one' },
      { name: 'two', needs: ['digits'], provides: ['letters'] },
    ] as const
    await assert.rejects(starting(...circle), invalid(/one → two → one/))
    assert.deepEqual(log, [])
  })

  test('an undeclared or late service is refused, and the error says what to add', async () => {
    const starting = (plugin: Omit<Plugin, 'name'>) => host(letters, { name: 'wild', ...plugin }).start()
    await assert.rejects(
      starting({ setup: (given) => void given.get('letters') }),
      invalid(/add 'letters' to its needs/),
    )
    await assert.rejects(
      starting({ setup: (given) => given.provide('digits', []) }),
      invalid(/add 'digits' to its provides/),
    )
    await assert.rejects(
      starting({ provides: ['digits'] }),
      invalid(/declares the service digits but did not provide it/),
    )
    let kept: PluginHost | undefined
    await starting({
      provides: ['digits'],
      setup(given) {
        given.provide('digits', [])
        kept = given
      },
    })
    assert.throws(() => kept?.provide('digits', []), invalid(/after set-up/))
  })

  test('a name used twice, or a use after the start, is refused', async () => {
    assert.throws(() => host(letters, letters), invalid(/letters is registered twice/))
    const subject = host(letters)
    await subject.start()
    assert.throws(() => subject.use(reader), invalid(/cannot use reader/))
    await assert.rejects(subject.start(), invalid(/already started/))
    assert.throws(() => subject.service('digits'), invalid(/digits, which does not exist/))
  })

  test('a stop during the start waits for it, then stops the started plugins', async () => {
    const log: string[] = []
    const gate = Promise.withResolvers<void>()
    const subject = host(
      logCalls(log, letters),
      logCalls(log, { name: 'slow', needs: ['letters'], start: () => gate.promise }),
    )
    const started = subject.start()
    const stopped = subject.stop()
    gate.resolve()
    await started
    await stopped
    assert.deepEqual(log.slice(-2), ['stop slow', 'stop letters'])
  })
})
