/** The desktop as a channel: a notification by notify-send or osascript, where there is a desktop. */

import { execFile } from 'node:child_process'
import { TirelessError } from '../../domain/error.ts'
import type { Message } from '../../domain/message.ts'
import { clipped } from '../../domain/summary.ts'
import type { Channel } from '../../ports/channel.ts'

export interface Desktop {
  readonly platform: string
  readonly env: Readonly<Record<string, string | undefined>>
  programAt(name: string): string | undefined
}

/** What a program needs to find the desktop, and nothing that is secret. */
const HANDED_ON = [
  ...['PATH', 'HOME', 'LANG', 'DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'XDG_RUNTIME_DIR'],
  'DBUS_SESSION_BUS_ADDRESS',
]
const MOST_OF_A_TEXT = 1000

export function desktopChannel(desktop: Desktop): Channel {
  const env = Object.fromEntries(HANDED_ON.flatMap((name) => (desktop.env[name] ? [[name, desktop.env[name]]] : [])))
  return {
    name: 'desktop',
    trouble: () => (found(desktop) === undefined ? whyNot(desktop) : null),
    deliver(message, signal) {
      const program = found(desktop)
      if (!program) return Promise.reject(new TirelessError('channel_refused', whyNot(desktop)))
      return new Promise((resolve, reject) => {
        execFile(program, argsOf(desktop, message), { env, signal }, (error) => {
          if (!error) return resolve()
          const why = error.code === undefined ? 'was stopped' : `ended with ${error.code}`
          reject(new TirelessError('channel_unavailable', `${nameOn(desktop)} ${why}`, { cause: error }))
        })
      })
    },
  }
}

const nameOn = ({ platform }: Desktop): string => (platform === 'darwin' ? 'osascript' : 'notify-send')

function found(desktop: Desktop): string | undefined {
  const { DISPLAY, WAYLAND_DISPLAY, DBUS_SESSION_BUS_ADDRESS } = desktop.env
  const there = desktop.platform === 'darwin' || DISPLAY || WAYLAND_DISPLAY || DBUS_SESSION_BUS_ADDRESS
  return there ? desktop.programAt(nameOn(desktop)) : undefined
}

const whyNot = (desktop: Desktop): string =>
  desktop.programAt(nameOn(desktop)) === undefined
    ? `there is no ${nameOn(desktop)} on this machine`
    : 'there is no desktop in this session'

/** A text is an argument, never a part of a script; notify-send reads some of it as markup. */
function argsOf({ platform }: Desktop, { kind, text }: Message): string[] {
  const [title = '', ...rest] = clipped(text, MOST_OF_A_TEXT).split('\n')
  const body = rest.join('\n').trim()
  if (platform === 'darwin')
    return [
      ...['-e', 'on run argv', '-e', 'display notification (item 2 of argv) with title (item 1 of argv)'],
      ...['-e', 'end run', title, body],
    ]
  const urgency = kind === 'alert' ? 'critical' : 'normal'
  const plain = body.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return ['--app-name=Tireless', `--urgency=${urgency}`, '--', title, plain]
}
