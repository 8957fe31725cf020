/** The desktop channel: shows notifications with notify-send (Linux) or osascript (macOS). */

import { execFile } from 'node:child_process'
import { clipText } from '../../domain/clean-summary.ts'
import { TirelessError } from '../../domain/error.ts'
import type { ChannelMessage } from '../../domain/message.ts'
import type { Channel } from '../../ports/channel.ts'

export interface Desktop {
  readonly platform: string
  readonly env: Readonly<Record<string, string | undefined>>
  programAt(name: string): string | undefined
}

/** Environment variables that notify-send or osascript needs to find the desktop; none of them is secret. */
const PASSED_VARIABLES = [
  ...['PATH', 'HOME', 'LANG', 'DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'XDG_RUNTIME_DIR'],
  'DBUS_SESSION_BUS_ADDRESS',
]
const MOST_CHARACTERS = 1000

export function desktopChannel(desktop: Desktop): Channel {
  const env = Object.fromEntries(
    PASSED_VARIABLES.flatMap((name) => (desktop.env[name] ? [[name, desktop.env[name]]] : [])),
  )
  return {
    name: 'desktop',
    trouble: () => (findProgram(desktop) === undefined ? describeProblem(desktop) : null),
    deliver(message, signal) {
      const program = findProgram(desktop)
      if (!program) return Promise.reject(new TirelessError('channel_refused', describeProblem(desktop)))
      return new Promise<void>((resolve, reject) => {
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

function findProgram(desktop: Desktop): string | undefined {
  const { DISPLAY, WAYLAND_DISPLAY, DBUS_SESSION_BUS_ADDRESS } = desktop.env
  const hasDesktop = desktop.platform === 'darwin' || DISPLAY || WAYLAND_DISPLAY || DBUS_SESSION_BUS_ADDRESS
  return hasDesktop ? desktop.programAt(nameOn(desktop)) : undefined
}

const describeProblem = (desktop: Desktop): string =>
  desktop.programAt(nameOn(desktop)) === undefined
    ? `there is no ${nameOn(desktop)} on this machine`
    : 'there is no desktop in this session'

/** The text is passed as an argument, never inside a script. notify-send interprets markup, so markup is escaped. */
function argsOf({ platform }: Desktop, { kind, text }: ChannelMessage): string[] {
  const [title = '', ...rest] = clipText(text, MOST_CHARACTERS).split('\n')
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
