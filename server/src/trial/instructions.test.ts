import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { exportLines, hostsLines, type Trial, trialEnvironment, trialNames, trialText } from './instructions.ts'

const trial: Trial = {
  domain: 'chat.example',
  region: 'eu',
  port: 8443,
  proxyPort: 8444,
  caFile: "/data of nora's/ca.pem",
  appIds: ['app1', 'app2'],
}

describe('the words about a trial', () => {
  it('map the names of apps in every region, those of regions and of management, and nothing else', () => {
    const isMapped = trialNames('chat.example')
    for (const name of ['a1.api-us', 'a1.call-eu', 'a1.apiclient-in', 'api-eu', 'apimgmt']) {
      assert.equal(isMapped(`${name}.chat.example`), true, name)
    }
    const others = ['a1.api-xx', 'a-b.api-us', 'a.b.api-us', '.api-us', 'call-us', 'apiclient-us', 'www', 'apimgmt.a']
    for (const name of others) assert.equal(isMapped(`${name}.chat.example`), false, name)
    const elsewhere = [
      'chat.example',
      'a1.api-us.chatxexample',
      'a1.api-us.chat.example.org',
      'a1.api-us.xchat.example',
      '',
    ]
    for (const host of elsewhere) assert.equal(isMapped(host), false, host)
  })

  it('can be read by a shell, whatever the folder is called', () => {
    const environment = trialEnvironment(trial)
    const script = `${exportLines(environment)}printf %s "$SSL_CERT_FILE $HTTPS_PROXY"`
    const printed = execFileSync('sh', ['-c', script], { encoding: 'utf8' })
    assert.equal(printed, `${trial.caFile} http://127.0.0.1:8444`)
  })

  it('name every app in the lines for /etc/hosts, which knows no wildcards', () => {
    assert.deepEqual(hostsLines(trial), [
      '127.0.0.1 api-eu.chat.example apimgmt.chat.example',
      '127.0.0.1 app1.api-eu.chat.example app1.apiclient-eu.chat.example app1.call-eu.chat.example',
      '127.0.0.1 app2.api-eu.chat.example app2.apiclient-eu.chat.example app2.call-eu.chat.example',
    ])
  })

  it('say what to type, with and without a proxy, and what to do without an app', () => {
    const text = trialText(trial, '/data/trial.env')
    assert.match(text, /^ {4}\. \/data\/trial\.env$/m)
    assert.match(text, /--connect-to ::127\.0\.0\.1:8443/)
    assert.match(text, /https:\/\/app1\.api-eu\.chat\.example\/v3\/users/)
    for (const line of hostsLines(trial)) assert.ok(text.includes(line))
    assert.match(trialText({ ...trial, appIds: [] }, '/data/trial.env'), /parley apps create/)
  })
})
