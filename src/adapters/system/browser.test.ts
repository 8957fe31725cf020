import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { browserCommand } from './browser.ts'

const URL = 'http://127.0.0.1:7717/#code=1'

describe('the program that opens a browser', () => {
  const desktop = { DISPLAY: ':0' }
  const rows: readonly [string, Readonly<Record<string, string>>, readonly string[], readonly string[] | undefined][] =
    [
      ['linux', desktop, ['xdg-open'], ['xdg-open', URL]],
      ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, ['xdg-open'], ['xdg-open', URL]],
      ['linux', { WSL_DISTRO_NAME: 'Debian' }, ['wslview', 'xdg-open'], ['wslview', URL]],
      ['linux', {}, ['xdg-open'], undefined],
      ['linux', desktop, [], undefined],
      ['darwin', {}, ['open'], ['open', URL]],
      ['win32', {}, [], ['cmd', '/c', 'start', '""', URL]],
    ]
  for (const [platform, env, programs, command] of rows)
    test(`${platform} with ${JSON.stringify(env)} and ${programs.join(', ') || 'no program'}`, () => {
      const programAt = (name: string): string | undefined => (programs.includes(name) ? `/bin/${name}` : undefined)
      assert.deepEqual(browserCommand(URL, { platform, env, programAt }), command)
    })
})
