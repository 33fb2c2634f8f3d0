import{t as e}from"./rolldown-runtime-cadc597d.js";import{At as t,B as n,Ct as r,D as i,Dt as a,Et as o,G as s,H as c,I as l,J as u,L as d,Ot as f,P as p,Q as m,R as h,St as g,T as _,Tt as v,V as y,W as b,Y as x,Z as S,_ as ee,_t as C,at as w,b as te,bt as T,ct as E,d as ne,dt as re,f as D,ft as O,g as ie,h as ae,ht as oe,it as se,jt as k,kt as ce,l as le,lt as A,mt as j,nt as M,pt as ue,q as N,r as de,tt as P,u as fe,v as pe,wt as F,xt as me,z as I}from"./console-7b64a923.js";import{p as L}from"./desktops-ed6e0000.js";var he=/* @__PURE__ */ e({demo:()=>Oe});const ge=6e4,_e=15*ge,R=1440*ge,ve=7*R,z=2**30,ye=[[`eu-west-1`,`d-93670a1b2c`,`111122223333`,0],[`eu-central-1`,`d-9967ac41de`,`111122223333`,60],[`us-east-1`,`d-90672fb09e`,`444455556666`,-300],[`us-east-1`,`d-906740c7d1`,`444455556666`,-300],[`ap-southeast-2`,`d-976738e1f0`,`777788889999`,600]],be=[[`STANDARD`,2,4],[`STANDARD`,2,4],[`STANDARD`,2,4],[`PERFORMANCE`,2,8],[`PERFORMANCE`,2,8],[`VALUE`,1,2],[`POWER`,4,16],[`POWERPRO`,8,32],[`GRAPHICS_G4DN`,4,16]],xe=`abara almeida berg castillo chen dubois eriksen fischer garcia haddad hansen ito ivanova jansen kaya kim kowalski larsen lopez martin meyer mori murphy nguyen novak okafor oliveira patel petrov quinn rossi santos sato schmidt silva singh tanaka virtanen weber yilmaz`.split(` `),Se=[`UNHEALTHY`,`UNHEALTHY`,`UNHEALTHY`,`IMPAIRED`,`ERROR`,`ERROR`,`MAINTENANCE`,`SUSPENDED`,`TERMINATED`,`PENDING`],Ce=[[`msedge.exe`,14],[`OUTLOOK.EXE`,1],[`ms-teams.exe`,6],[`EXCEL.EXE`,2],[`explorer.exe`,1],[`svchost.exe`,71],[`MsMpEng.exe`,1],[`acrobat.exe`,2]];function we(e){let t=()=>{e=e+2654435769|0;let t=Math.imul(e^e>>>16,569420461);return t=Math.imul(t^t>>>15,1935289751),((t^t>>>15)>>>0)/2**32},n=(e,n)=>e+Math.floor(t()*(n-e+1));return{between:n,around:(e,t)=>Math.floor((n(e,t)+n(e,t))/2),pick:e=>e[n(0,e.length-1)]}}function Te(e,t){let n=(e,n)=>Array.from({length:n},()=>t.pick(e)).join(``),[r,i,a,o]=t.pick(ye),[s,c,l]=t.pick(be),u=t.pick([`AUTO_STOP`,`AUTO_STOP`,`ALWAYS_ON`]),d=t.between(0,99),f=t.between(1,100);return{workspace:{workSpId:`ws-${n(`0123456789bcdfghjklmnpqrstvwxyz`,9)}`,computerName:`WSAMZN-${n(`0123456789ABCDEFGHJKLMNPQRSTUVWXYZ`,8)}`,account:a,region:r,directoryId:i,runningMode:u,computeTypeName:s,protocol:t.pick([`WSP`,`WSP`,`PCOIP`]),username:`abdehjklmnprst`[Math.floor(e/xe.length)]+xe[e%xe.length],state:Se[d]??(d<40&&u===`AUTO_STOP`?`STOPPED`:`AVAILABLE`)},logon:t.around(435,585)-o,stay:t.around(360,630),processors:c,memory:l,overloaded:f<=5,unused:f>95}}function Ee({logon:e,stay:t,unused:n},r,i){let a=[];for(let o=Math.floor(r/R)-1;o<=r/R+8;o++){let r=(o+3)%7;if(i.between(1,100)>(r<5?95:6)||n)continue;let s=(e,t,n)=>e+i.around(t*60,n*60)*1e3,c=s(o*R,e-15,e+15),l=s(c,180,270);a.push([c,l,s(l,20,70),s(c,t-30,t+30)])}return a}function De(e,t,n){let{workspace:r,processors:i,memory:a,overloaded:o}=e,s=t-ve,c=[],l={instanceId:r.workSpId,username:r.username,computeTypeName:r.computeTypeName},u=(e,n,r,i)=>{r>=s&&r<t&&c.push(JSON.stringify({[e]:{...l,[n]:new Date(r).toISOString(),...i}}))},d=Ee(e,s,n);for(let[e,t,r,i]of d){let a=n.between(1,100)<=(o?70:3)?5:1,[s,c,l]=[n.around(900,9e3)*a,n.around(1500,14e3)*a,n.around(1200,6e3)];u(`startup`,`baselineUtc`,e,{profileMs:s,groupPolicyMs:c,shellMs:l,totalMs:s+c+l+n.between(100,900)});let d=[[e,`Logon`],[t,`Lock`],[r,`Unlock`],[i,n.pick([`Logoff`,`Disconnect`,`Disconnect`])]];for(let[e,t]of d)u(`activity`,`activityTime`,e,{activity:t,tenantId:`contoso`})}let f=r.runningMode===`ALWAYS_ON`,p=s-R*n.between(1,20),m=n.between(0,899e3);for(let e=0;e<ve/_e;e++){let t=s+e*_e+m,c=d.find(([e,,,n])=>e<=t&&t<n);if(c===void 0&&!(f&&e%4==0))continue;let l=c!==void 0&&c[1]<=t&&t<c[2],[h,g,_,v,y]=c===void 0?[0,4,22,34,4]:l?[0,8,40,55,12]:o?[82,100,88,98,900]:[2,58,42,80,400],b=()=>n.around(0,2*y)/2,x=a*z,S=Math.floor(x*n.around(_,v)/409600)*4096,ee=n.around(28e3,31e3)*2**20;u(`stats`,`updatetime`,t,{...c===void 0?{username:null}:{},processorCount:i,processorInUse:n.around(h,g),physicalMemory:x,availablePhysicalMemory:x-S,virtualMemory:x+2*z,availableVirtualMemory:x+2*z-S,memoryInUse:S,rootTotal:80*z,rootAvailable:ee,userTotal:50*z,userAvailable:ee/2+9*z,diskReads:b(),diskWrites:b(),networkReceived:b()*1024,networkSent:b()*256,uptime:Math.round((t-(c===void 0||f?p:c[0]-9e4))/1e3),osVersion:`10.0.20348`,tenantId:`contoso`}),c!==void 0&&e%8==0&&u(`processes`,`createdDate`,t,{processes:Ce.map(([e,t])=>({processName:e,processCount:t,processorUsage:n.between(0,900)/100,memoryUsage:t*n.between(20,90)*2**20,username:r.username}))})}return c}function*Oe(e,t){let n=we(e),r=Array.from({length:320},(e,t)=>Te(t,n)),i=r.filter(({workspace:{state:e}})=>[`AVAILABLE`,`UNHEALTHY`,`IMPAIRED`].includes(e)),a=i.length;yield{method:`POST`,path:`/operator/workspaces`,lines:r.map(({workspace:e})=>JSON.stringify(e)),done:0,of:a};for(let e=0;e<a;e+=2)yield{method:`POST`,path:`/operator/telemetry`,lines:i.slice(e,e+2).flatMap(e=>De(e,t,n)),done:e,of:a};let o=e=>r.filter(({workspace:{state:t}})=>t===e).map(({workspace:e})=>e.workSpId),s=o(`AVAILABLE`);for(let e of s.slice(0,3))yield{method:`PUT`,path:`/operator/workspaces/${e}/litigation-hold`,json:{matter:`Matter 2026-017`,reason:`Custodian of the 2026 supply contract`},done:a,of:a};let c=[[`RebootWorkSpace`,s[5]],[`RebootWorkSpace`,s[9]],[`ChangeComputeType`,s[12]],[`StartWorkSpace`,o(`STOPPED`)[0]],[`StartWorkSpace`,o(`STOPPED`)[1]],[`RestoreWorkSpace`,o(`IMPAIRED`)[0]],[`RebuildWorkSpace`,o(`ERROR`)[0]],[`RebootWorkSpace`,o(`UNHEALTHY`)[0]]];for(let[e,t]of c){if(t===void 0)continue;let r=n.pick([`svc-desk`,`svc-desk`,`m.keller`,`night-ops`]),i=e===`ChangeComputeType`?`POWER`:``;yield{method:`POST`,path:`/api/Actions/${e}`,query:{workSpaceId:t,requester:r,computeType:i},done:a,of:a}}}const ke=String.raw`
Information
GET /api/Information/GetUserInformation?username={username} Read what is known of a user
GET /api/Information/Get24HourActivity List the activity of the last 24 hours
GET /api/Information/GetAdminActivity?numberOfActivities=10 List the newest rows of the audit
POST /api/Information/RemoveWorkSpaceDbEntry?workSpaceId={workSpId} Remove the entry of a workspace
GET /api/Information/GetAllWorkSpaces?limit=5 List all workspaces
GET /api/Information/GetWorkSpacesOnLitigationHold?limit=5 List the workspaces on litigation hold
Actions
POST /api/Actions/RebootWorkSpace?workSpaceId={workSpId} Reboot a workspace
POST /api/Actions/RecoveryRebootWorkSpace?workSpaceId={workSpId} Reboot a workspace on a new host
POST /api/Actions/RebuildWorkSpace?workSpaceId={workSpId} Rebuild a workspace from its image
POST /api/Actions/RestoreWorkSpace?workSpaceId={workSpId} Restore a workspace from its last backup
POST /api/Actions/TerminateWorkSpace?workSpaceId={workSpId} Terminate a workspace
POST /api/Actions/StartWorkSpace?workSpaceId={workSpId} Start a stopped workspace
POST /api/Actions/ChangeComputeType?workSpaceId={workSpId}&computeType=POWER Change the compute type of a workspace
Stats
POST /api/Stats/Post Post resource statistics
 {"id":1,"instanceId":"{workSpId}","username":"{username}","processorInUse":42}
GET /api/Stats/Test Test the connection
GET /api/Stats/queue/count Count the queued telemetry
POST /api/Stats/PostActivity Post a user activity
 {"id":1,"instanceId":"{workSpId}","username":"{username}","activity":"Lock"}
POST /api/Stats/PostStartupMetrics Post startup timings
 {"id":1,"instanceId":"{workSpId}","username":"{username}","profileMs":1200,"groupPolicyMs":700,"shellMs":1500,"totalMs":3400}
POST /api/Stats/PostProcesses Post a process report
 {"instanceId":"{workSpId}","username":"{username}","processes":[{"processName":"excel","processorUsage":12.5,"memoryUsage":310.2,"processCount":1}]}
Query
GET /query/conditions List what is wrong now
GET /query/key Read the key of the request
GET /query/fleet The fleet in numbers
GET /query/workspaces?state=in.AVAILABLE,UNHEALTHY&sort=-cpu&limit=5 Query workspaces as rows
GET /query/holds?limit=5 Query litigation holds
GET /query/top?metric=cpu&statistic=p95&from=-24h&limit=5 List the worst desktops
POST /query/preview Preview an action
 {"action":"RebootWorkSpace","workSpaceIds":["{workSpId}"]}
GET /query/processes?from=-24h&sort=-cpu&limit=5 Query processes by name
GET /query/timeline?workSpaceId={workSpId}&from=-7d&limit=5 Query the story of one desktop
GET /query/advice?from=-30d&limit=5 Query advice
GET /query/advice/totals?from=-30d Query totals of advice
GET /query/series?metrics=cpu&from=-6h&step=1h Query metrics over time
GET /query/startup?from=-1d Query how long startups took
GET /query/heatmap?of=reporting&from=-7d Query when the fleet is used
GET /query/events?after=1&limit=5 Follow what happens
GET /query/metrics Read metrics of the fleet
GET /query/export?stream=activity&from=-24h&instanceId={workSpId} Export the telemetry of a range
Operator
GET /operator/workspaces?state=UNHEALTHY&limit=5 List workspaces by filter
POST /operator/workspaces Create or change workspaces in bulk
 [{"workSpId":"ws-example","username":"jdoe","state":"AVAILABLE","runningMode":"AUTO_STOP"}]
GET /operator/workspaces/{workSpId} Read a workspace
PUT /operator/workspaces/{workSpId} Create or replace a workspace
 {"workSpId":"{workSpId}","username":"{username}","state":"AVAILABLE","runningMode":"AUTO_STOP"}
PUT /operator/workspaces/{workSpId}/litigation-hold Place a litigation hold
 {"matter":"Case 42","reason":"Asked for by the legal department"}
DELETE /operator/workspaces/{workSpId}/litigation-hold Release a litigation hold
POST /operator/telemetry Post telemetry in bulk
 {"stats":{"instanceId":"{workSpId}","processorInUse":41}}
GET /operator/telemetry/stats?instanceId={workSpId}&limit=5 Read the statistics of an instance
GET /operator/telemetry/activity?instanceId={workSpId}&limit=5 Read the activity of an instance
GET /operator/telemetry/startup?instanceId={workSpId}&limit=5 Read the startup timings of an instance
GET /operator/telemetry/processes?instanceId={workSpId}&limit=5 Read the process reports of an instance
DELETE /operator/telemetry?instance={workSpId} Remove telemetry
GET /operator/actions?state=pending&limit=5 List the actions that run
POST /operator/actions Start an action on many workspaces
 {"action":"StartWorkSpace","workSpaceIds":["{workSpId}"],"atOnce":20,"stopAfterFailures":5,"requester":"example"}
GET /operator/batches List the batches of actions
GET /operator/batches/{id} Read a batch of actions
POST /operator/batches/{id}/stop Stop a batch of actions
POST /operator/actions/{id}/dispatch Begin an attempt of an action
 {"provider":"aws","attempt":1,"instance":"4fc1a90e"}
POST /operator/actions/{id}/note Note what a provider says of an action
 {"attempt":1,"requestId":"5f6d1a0c-7a61-4a46-8d2e-0e1d8a8f5f0e"}
POST /operator/actions/{id}/complete Complete an action
POST /operator/actions/{id}/fail Fail an action
 {"state":"UNHEALTHY","detail":"The host did not come back within 5 minutes."}
GET /operator/audit?result=Refused&limit=5 List the audit by filter
GET /operator/store Get the state of the store
GET /operator/keys List the API keys
POST /operator/keys Issue an API key
 {"name":"example","scopes":["read"]}
DELETE /operator/keys/{id} Revoke an API key
Server
POST /console/session Exchange a code for a key
 {"code":"that of the link"}
GET /operator/backups List the backups
POST /operator/backups Write a backup
POST /operator/backups/download Download a backup
GET /operator/cluster List the nodes of the fleet
DELETE /operator/cluster/nodes/{node} Take a node off the list
GET /livez Ask whether the process responds
GET /readyz Ask whether the store can be used
GET /metrics Read the metrics
GET /openapi.json Read this document
GET / See what runs here
GET /favicon.ico Read the icon
`,B=[];let Ae=``;for(let e of ke.trim().split(`
`)){let[,t,n,r]=/^([A-Z]+) (\/\S*) (.+)$/.exec(e)??[],i=B.at(-1);t===void 0?e.startsWith(` `)&&i!==void 0?i.body=e.trim():Ae=e:B.push({area:Ae,method:t,path:n,summary:r,body:``})}const je=1e5,Me=`$KEY`,Ne=({method:e,body:t})=>t!==``&&e!==`GET`&&e!==`HEAD`;function Pe(e){return e.split(`
`).filter(e=>e.trim()!==``).map(e=>{let t=e.indexOf(`:`);if(t<1)throw Error(`The header line “${e}” has no colon.`);return[e.slice(0,t).trim(),e.slice(t+1).trim()]})}const Fe=e=>e.replaceAll(/([?&]api_?key=)[^&#]*/gi,`$1${Me}`);async function Ie(e,t){let{method:n,path:r,keyed:i}=e;if(!r.startsWith(`/`))throw Error(`A path begins with “/”.`);let a=new Headers(Pe(e.headers));i&&j.value!==null&&a.set(`x-api-key`,j.value.key);let o=performance.now(),s=await f().fetch(r,{method:n,headers:a,body:Ne(e)?e.body:void 0,signal:t}),{text:c,cut:l}=await Le(s,t);return{status:s.status,milliseconds:performance.now()-o,headers:[...s.headers].map(([e,t])=>`${e}: ${t}`).join(`
`),body:Re(c),cut:l||c.length>je}}async function Le(e,t){let n=e.headers.get(`content-type`)??`text/`;if(!/json|text|xml/.test(n))return{text:`${(await e.arrayBuffer()).byteLength} bytes of ${n}`,cut:!1};if(e.body===null)return{text:``,cut:!1};let r=e.body.getReader(),i=new TextDecoder,a=``;try{for(;a.length<1048576;){let{done:e,value:t}=await r.read();if(e)return{text:a,cut:!1};a+=i.decode(t,{stream:!0})}}catch(e){if(!t.aborted)throw e}return r.cancel().catch(()=>{}),{text:a,cut:!0}}function Re(e){try{e=JSON.stringify(JSON.parse(e),null,2)}catch{}return e.slice(0,je)}const ze=e=>`'${e.replaceAll(`'`,String.raw`'\''`)}'`;function Be(e,t){let{method:n,path:r,keyed:i}=e,a=Pe(e.headers).filter(([e])=>!/^(x-api-key|authorization)$/i.test(e)),o=[`curl`,n===`GET`?``:n===`HEAD`?`--head`:`-X ${n}`];(i||a.length<Pe(e.headers).length)&&o.push(`-H "X-Api-Key: ${Me}"`);for(let[e,t]of a)o.push(`-H ${ze(`${e}: ${t}`)}`);return Ne(e)&&o.push(`--data-binary ${ze(e.body)}`),o.push(ze(new URL(`.${Fe(r)}`,t).href)),o.filter(e=>e!==``).join(` `)}var Ve=/* @__PURE__ */ e({default:()=>Ke});const He=[`GET`,`HEAD`,`POST`,`PUT`,`DELETE`],Ue=B.find(({path:e})=>e===`/query/fleet`),We={method:Ue.method,path:Ue.path,headers:``,body:``,keyed:!0},V=T(We),H=T([]);let Ge=0;oe(()=>{j.value===null&&(V.value=We,H.value=[])});const U=e=>V.value={...V.value,...e};function Ke(){let[e,t]=g(!1),[n,i]=g(void 0),[a,o]=g(void 0),s=r(void 0);return C`<div class="head">
            <h1>API</h1>
            ${f().kind===`server`&&C`<a href="openapi.json">openapi.json</a>`}
        </div>
        <div class="panels api">
            <section class="panel" aria-label="Request"><${Je} busy=${e} send=${async()=>{let{signal:e}=s.current=new AbortController,n=V.value;t(!0);try{let t=await Ie(n,e);H.value=[{id:++Ge,status:t.status,request:n},...H.value].slice(0,20),i(t),o(void 0)}catch(t){i(void 0),o(e.aborted?/* @__PURE__ */ Error(`Stopped.`):t)}t(!1)}} stop=${()=>s.current?.abort()} /></section>
            <section class="panel" aria-label="Response">
                <${d} error=${a} />
                <${Xe} answer=${n} />
                <${Ze} />
            </section>
        </div>`}function qe({method:e,path:t,body:n},r){let i={workSpId:r?.workSpId??`ws-1`,username:r?.username??`jdoe`,id:`1`},a=(e,t)=>e.replaceAll(/\{(workSpId|username|id)\}/g,(e,n)=>t(i[n])),o=a(n,e=>JSON.stringify(e).slice(1,-1)),s=t===`/operator/telemetry`,c=o===``||s?o:JSON.stringify(JSON.parse(o),null,2),l=o===``?``:`Content-Type: application/${s?`x-ndjson`:`json`}`;U({method:e,path:a(t,encodeURIComponent),body:c,headers:l})}function Je({busy:e,send:t,stop:n}){let r=y(`desktop`,async e=>(await a(`/query/workspaces`,{limit:1,fields:`workSpId,username`},e)).rows[0]),i=B.filter(({area:e})=>e!==`Server`||f().kind===`server`),o=[...new Set(i.map(({area:e})=>e))],{method:s,path:l,headers:u,body:d,keyed:p}=V.value,m=l.split(`?`)[0],h=i.findIndex(e=>e.method===s&&Ye(e.path).test(m)),g=n=>{n.preventDefault(),e||t()};return C`<form class="form" onSubmit=${g} onKeyDown=${e=>{e.key===`Enter`&&(e.ctrlKey||e.metaKey)&&g(e)}}>
        <label>Endpoint
            <select value=${String(h)} onChange=${({target:e})=>qe(i[e.value],r.data)}>
                <option value="-1" disabled>Another</option>
                ${o.map(e=>C`<optgroup key=${e} label=${e}>
                        ${i.map((t,n)=>t.area===e&&C`<option key=${n} value=${String(n)}>${t.method} ${t.path.split(`?`)[0]}</option>`)}
                    </optgroup>`)}
            </select>
        </label>
        <p class="note">${i[h]?.summary??`Not in the list.`}</p>
        <div class="row ends">
            <label>Method <select value=${s} onChange=${({target:e})=>U({method:e.value})}>${He.map(e=>C`<option key=${e}>${e}</option>`)}</select></label>
            <label class="grows">Path <input class="mono" required spellcheck=${!1} autocomplete="off" autocapitalize="off" value=${l} onInput=${({target:e})=>U({path:e.value})} /></label>
        </div>
        <label>Headers, one a line <textarea rows="2" spellcheck=${!1} value=${u} onInput=${({target:e})=>U({headers:e.value})}></textarea></label>
        ${s!==`GET`&&s!==`HEAD`&&C`<label>Body <textarea rows="8" spellcheck=${!1} value=${d} onInput=${({target:e})=>U({body:e.value})}></textarea></label>`}
        <label class="check"><input type="checkbox" checked=${p} onChange=${()=>U({keyed:!p})} /> With the key of this session</label>
        <div class="row">
            <button class="primary" disabled=${e}>Send</button>
            ${e&&C`<button type="button" onClick=${n}>Stop</button>`}
            ${f().kind===`server`&&C`<button type="button" class="quiet" onClick=${async()=>{try{await navigator.clipboard.writeText(Be(V.value,document.baseURI.replace(/[?#].*$/,``))),c(`Copied, with $KEY in place of the key.`)}catch(e){c(`Not copied: ${e instanceof Error?e.message:e}`,`bad`)}}}>Copy as curl</button>`}
            <span class="note">Ctrl+Enter sends. Requests run without confirmation.</span>
        </div>
    </form>`}function Ye(e){let[t]=e.split(`?`);return RegExp(`^${t.replaceAll(`.`,`\\.`).replaceAll(/\{\w+\}/g,`[^/]+`)}$`)}function Xe({answer:e}){if(e===void 0)return C`<h2>Response</h2><p class="note" role="status">Nothing was received yet.</p>`;let{status:t,milliseconds:n,headers:r,body:i,cut:a}=e,o=t<400;return C`<h2>Response</h2>
        <p role="status"><span class=${`state ${o?`good`:`bad`}`}><span class="glyph" aria-hidden="true">${o?`✔`:`✖`}</span><b>${t}</b></span> after ${n.toFixed(1)} ms</p>
        <pre tabindex="0" role="group" aria-label="Headers of the response">${r}</pre>
        <pre tabindex="0" role="group" aria-label="Body of the response" class="body">${i}</pre>
        ${a&&C`<p class="note">The rest is not shown.</p>`}`}function Ze(){return C`<h3>Sent before</h3>
        ${H.value.length===0&&C`<p class="note">The last ${20} requests are listed here, until the page is left; each can be taken back into the form.</p>`}
        <ol class="sent">
            ${H.value.map(({id:e,status:t,request:n})=>C`<li key=${e}><button type="button" class="quiet mono" onClick=${()=>V.value=n}>${t} ${n.method} ${Fe(n.path)}</button></li>`)}
        </ol>`}function Qe({path:e,query:t,member:n,columns:i,file:a}){let[o,s]=g(void 0),l=r(void 0),u=()=>l.current?.abort();return me(()=>u,[]),o===void 0?C`<button type="button" class="quiet" onClick=${async()=>{let{signal:r}=l.current=new AbortController;s(0);try{M(`${a}.csv`,await $e(ce(e,{...t(),export:!0},r),i,n,s))}catch(e){r.aborted||c(`Not saved: ${e instanceof Error?e.message:e}`,`bad`)}s(void 0)}}>Export all (CSV)</button>`:C`<span role="status">${N(o)} rows …</span><button type="button" onClick=${u}>Stop</button>`}async function $e(e,t,n,r){let i=[P(t,[])],a=i[0].length,o=0;for await(let s of e)i.push(P(t,s[n]).slice(a)),r(o+=s[n].length);return new Blob(i)}const et=`/operator/audit`,tt=15e3,nt=[`id`,`activityTime`,`requester`,`action`,`workSpaceId`,`username`,`computerName`,`result`,`previousState`,`newState`,`completedTime`,`detail`,`apiKeyName`,`apiKeyId`],rt=({type:e})=>e!==`telemetry.filed`,it=[{name:`activityTime`,title:`Time`,show:({activityTime:e})=>C`<span class="nowrap">${m(e)}</span>`},{name:`action`,title:`Action`,show:({action:e})=>C`<span class="nowrap">${D(e)}</span>`},{name:`result`,title:`Result`,show:({result:e})=>C`<${ne} result=${e} />`},{name:`workSpaceId`,title:`Desktop`,show:({workSpaceId:e})=>e&&C`<a href=${w(`desktop`,e)}><${p} text=${e} /></a>`},{name:`username`,title:`User`,show:({username:e})=>e&&C`<a href=${w(`user`,e)}><${p} text=${e} /></a>`},{name:`requester`,title:`Requester`,show:({requester:e})=>C`<${p} text=${e} />`},{name:`newState`,title:`State after`,show:({newState:e})=>e&&C`<${ae} state=${e} />`},{name:`detail`,title:`Detail`,show:({detail:e})=>e&&C`<span class="long"><${p} text=${e} /></span>`}];function at({rows:e,tools:t,empty:r}){return C`<${n} caption="Audit" file="audit" sort="" columns=${it} rows=${e} rowKey=${({id:e})=>e} tools=${t} empty=${r} />`}async function ot(e,t,n){let r=[];for(let i=0;i<10;i++){let i=await a(et,{...e,limit:100,nextToken:t},n);if(r.push(...i.activities),t=i.nextToken,!i.hasMore||r.length>=100)break}return{rows:r,token:t}}function st(e,t){let n=e.rows.at(-1)?.id??1/0;return t===void 0||t.rows.length===0||n>t.rows[0].id?e:{rows:[...e.rows,...t.rows.filter(({id:e})=>e<n)],token:t.token}}function ct(){let e=pe(),{workSpaceId:t,requester:n,action:r,result:i,batchId:a}=E.value.query,o={workSpaceId:t,requester:n,action:r,result:i,batchId:a},s=()=>({...o,...ut(e)}),c=JSON.stringify([o,e.key]),u=y(c,e=>ot(s(),null,e),{every:tt,on:rt}),f=lt(c,u.data),[p,m]=g({}),h=async()=>{let{token:e}=f.part??{token:null};m({busy:!0});try{f.append(c,await ot(s(),e)),m({})}catch(e){m({error:e})}};return C`<${dt} filters=${o} />
        <${l} of=${u}>
            ${()=>{let{rows:e,token:t}=f.part??{rows:[],token:null},n=C`<${Qe} key=${c} path=${et} query=${s} member="activities" columns=${nt} file="audit-whole" />`;return C`<${at} rows=${e} tools=${n} empty=${t===null?`Nothing matches.`:`Nothing matches so far.`} />
                    ${t!==null&&C`<div class="row"><button type="button" disabled=${p.busy} onClick=${h}>${p.busy?`Reading …`:`More`}</button></div>`}
                    <${d} error=${p.error} />`}}
        <//>`}function lt(e,t){let n=r({key:e}),[,i]=g(0);return n.current.key!==e&&(n.current={key:e}),n.current.newest!==t&&(n.current={key:e,newest:t,part:t&&st(t,n.current.part)}),me(()=>re(({type:e,at:t,detail:r})=>{let a=n.current.part?.rows.find(({id:e})=>e===r?.actionId);a===void 0||e!==`action.completed`&&e!==`action.failed`||(Object.assign(a,{result:r.result??`Completed`,newState:r.state,completedTime:r.completedTime??t}),i(e=>e+1))}),[]),{part:n.current.part,append(e,t){let{part:r}=n.current;n.current.key===e&&r!==void 0&&(n.current.part={rows:[...r.rows,...t.rows],token:t.token},i(e=>e+1))}}}function ut(e){return e.from===`-365d`?{}:{from:new Date(ie(e)[0]).toISOString(),to:e.to}}function dt({filters:e,range:t}){let n=({target:e})=>A({[e.name]:e.value.trim()||void 0}),r=(t,r,i=`text`)=>C`<label>${r} <input type=${i} name=${t} spellcheck=${!1} value=${e[t]??``} onChange=${n} /></label>`,i=(t,r,i)=>C`<label>${r}
            <select name=${t} value=${e[t]??``} onChange=${n}>
                <option value="">All</option>
                ${i.map(([e,t])=>C`<option key=${e} value=${e}>${t}</option>`)}
            </select>
        </label>`;return C`<div class="filters" role="search" aria-label="Filters of the audit">
        ${r(`workSpaceId`,`Desktop ID`,`search`)} ${r(`requester`,`Requester (whole name)`,`search`)}
        ${i(`action`,`Action`,le.map(e=>[e,D(e)]))}
        ${i(`result`,`Result`,Object.entries(fe).map(([e,{label:t}])=>[e,t]))}
        ${e.batchId&&C`<button type="button" onClick=${()=>A({batchId:void 0})}>Only batch ${e.batchId} ✕</button>`}
    </div>`}const ft=[100,1e3,1e4];function pt(){let e=ft.find(e=>String(e)===E.value.query.rows)??ft[0],t=y(`newest ${e}`,t=>a(`/api/Information/GetAdminActivity`,{numberOfActivities:e},t),{every:tt,on:rt}),n=C`<label class="compact">Newest
        <select value=${e} onChange=${({target:e})=>A({rows:e.value})}>${ft.map(e=>C`<option key=${e} value=${e}>${e}</option>`)}</select>
    </label>`;return C`<p class="note">The newest rows. A key of scope <code>admin</code> also filters them and reads older ones.</p>
        <${l} of=${t}>${e=>C`<${at} rows=${e} tools=${n} />`}<//>`}const mt=15e3,ht=`No action runs.`,gt=[`REBOOTING`,`REBUILDING`,`RESTORING`,`STARTING`,`STOPPING`,`TERMINATING`,`UPDATING`],_t=({type:e})=>e.startsWith(`action.`)||e===`import.committed`,vt=({workSpaceId:e})=>C`<a href=${w(`desktop`,e)}><${p} text=${e} /></a>`,yt=()=>C`<${xt} />${O(`admin`)?C`<${St} />`:C`<${wt} />`}`,bt={Requested:`stopped by a person`,Failures:`stopped after failures`,Throttled:`stopped above the rate of its key`,KeyEnded:`stopped with its key`};function xt(){let e=y(`batches`,e=>a(`/operator/batches`,{},e),{every:mt,on:_t}),[t,r]=g(void 0),i=(e.data?.batches??[]).filter(({endedAt:e})=>e===null);if(i.length===0)return null;let o=Date.now(),s=t=>k(`POST`,`/operator/batches/${t.batchId}/stop`).then(e.reload,r);return C`<${d} error=${t} /><${n} caption="Running batches" file="batches" columns=${[{name:`action`,title:`Action on many`,show:({action:e,computeType:t})=>C`${D(e)}${t&&` to ${t}`}`},{name:`requester`,title:`Requested by`,show:({requester:e,apiKeyName:t})=>C`<${p} text=${e??t??`host`} />`},{name:`startedAt`,title:`Since`,show:({startedAt:e})=>C`${b(e,o)} <span class="note">${m(e)}</span>`},{name:`waiting`,title:`Progress`,fixed:!0,show:({succeeded:e,running:t,waiting:n,failed:r,stopped:i})=>`${e} done, ${t} running, ${n} ${i===null?`waiting`:`not begun`}, ${r} failed${i===null?``:`; ${bt[i]??i}`}`},{name:`stop`,title:`Stop`,fixed:!0,unsaved:!0,show:e=>ue(e.action)&&e.stopped===null&&e.waiting>0&&C`<button type="button" onClick=${()=>void s(e)}>Stop</button>`}]} rows=${i} rowKey=${({batchId:e})=>e} />`}function St(){let[e,t]=g(void 0),r=y(`pending`,e=>a(`/operator/actions`,{state:`pending`,limit:500},e),{every:mt,on:_t}),i=Date.now(),o=[{name:`action`,title:`Action`,show:({action:e,computeType:t})=>C`${D(e)}${t&&` to ${t}`}`},{name:`workSpaceId`,title:`Desktop`,show:vt},{name:`requestedAt`,title:`Since`,show:({requestedAt:e})=>C`${b(e,i)} <span class="note">${m(e)}</span>`},{name:`dueAt`,title:`Due`,show:({dueAt:e})=>e===null?`when it is ended`:m(e)}],s=[{name:`provider`,title:`Provider`,show:({provider:e})=>e===null?`–`:C`<${p} text=${e} />`},{name:`attempts`,title:`Attempts`,show:({attempts:e,lastAttemptAt:t})=>C`${e}${t!==null&&C` <span class="note">${b(t,i)}</span>`}`},{name:`note`,title:`Request`,show:({note:e})=>e!==null&&C`<code><${p} text=${e} /></code>`}],c={name:`end`,title:`End`,fixed:!0,unsaved:!0,show:e=>e.dueAt===null&&C`<button type="button" onClick=${()=>t({action:e,fails:!1})}>Complete</button> <button type="button" class="danger" onClick=${()=>t({action:e,fails:!0})}>Fail</button>`};return C`<${l} of=${r}>
            ${({actions:e,hasMore:t})=>{let r=e.some(({dueAt:e})=>e===null),a=e.filter(({dueAt:e,attempts:t,requestedAt:n})=>e===null&&t===0&&i-Date.parse(n)>9e5),l=e.flatMap(({dueAt:e,lastAttemptAt:t})=>e===null&&t!==null?i-Date.parse(t):[]).filter(e=>e>72e5);return C`${a[0]&&C`<p class="warning">No provider has begun ${a.length} of these actions, the oldest for ${x(i-Date.parse(a[0].requestedAt))}: is <code>deskfleet-provider</code> running?</p>`}
                    ${l[0]!==void 0&&C`<p class="warning">The last attempt at ${l.length} of these actions began long ago, the oldest ${x(Math.max(...l))} ago: is the provider running, under the same <code>--name</code>, and does its web service complete them?</p>`}
                    ${t&&C`<p class="note">The ${500} oldest.</p>`}
                    <${n} caption="Running actions" file="running" columns=${r?[...o,...s,c]:o} rows=${e} rowKey=${({id:e})=>e} empty=${ht} />`}}
        <//>
        ${e&&C`<${Ct} ...${e} onClose=${()=>t(void 0)} onEnded=${()=>(t(void 0),r.reload())} />`}`}function Ct({action:{id:e,action:t,workSpaceId:n},fails:r,onClose:i,onEnded:a}){let[o,s]=g(void 0),l=`${r?`Fail`:`Complete`}: ${D(t)}`;return C`<${I} open=${!0} title=${l} onClose=${i}>
        <form class="form" onSubmit=${async i=>{i.preventDefault();let o=new FormData(i.target);try{r?await k(`POST`,`/operator/actions/${e}/fail`,{},{state:o.get(`state`),detail:o.get(`detail`)||null}):await k(`POST`,`/operator/actions/${e}/complete`),c(`${D(t)} of ${n} ${r?`has failed`:`is completed`}.`),a()}catch(e){s(e)}}}>
            <p>${r?`The action ends now, without success.`:`The action ends now, with success: what it asks for must be done.`}</p>
            <p>Desktop <code><${p} text=${n} /></code></p>
            ${r&&C`<label>State <select name="state"><option value="ERROR">Error</option><option value="UNHEALTHY">Unhealthy</option></select></label>
                <label>What happened, for the audit <input name="detail" maxlength="256" /></label>`}
            <${d} error=${o} />
            <div class="dialog-actions"><button type="button" onClick=${i}>Cancel</button><button class=${r?`danger`:`primary`}>${r?`Fail it`:`Complete it`}</button></div>
        </form>
    <//>`}function wt(){let e={state:gt,fields:`workSpId,username,state,transition`,limit:500},t=y(`transitions`,t=>a(`/query/workspaces`,e,t),{every:mt,on:_t}),r=[{name:`transition`,title:`Action`,show:({transition:e})=>e?D(e):`–`},{name:`workSpId`,title:`Desktop`,show:({workSpId:e})=>vt({workSpaceId:e})},{name:`username`,title:`User`,show:({username:e})=>e&&C`<a href=${w(`user`,e)}><${p} text=${e} /></a>`},{name:`state`,title:`State`,show:({state:e})=>C`<${ae} state=${e} />`}];return C`<p class="note">Desktops whose state is about to change. A key of scope <code>admin</code> also sees since when, and when it is due.</p>
        <${l} of=${t}>
            ${({rows:e,hasMore:t})=>C`${t&&C`<p class="note">The first ${500}.</p>`}
                <${n} caption="Desktops in transition" file="running" columns=${r} rows=${e} rowKey=${({workSpId:e})=>e} empty=${ht} />`}
        <//>`}var Tt=/* @__PURE__ */ e({default:()=>Et});function Et(){let e=E.value.query.tab===`running`,t=O(`admin`)?ct:pt;return C`<div class="head"><h1>Actions and audit</h1></div>
        <nav class="tabs" aria-label="Views">
            <a href=${w(`audit`)} aria-current=${e?void 0:`page`}>Audit</a>
            <a href=${w(`audit`,void 0,{tab:`running`})} aria-current=${e?`page`:void 0}>Running</a>
        </nav>
        <${e?yt:t} />`}const W=T(void 0);let Dt;const Ot=e=>e.preventDefault();async function kt(e,t,n=``){if(W.value!==void 0)return!1;Dt=new AbortController;let{signal:r}=Dt;W.value={what:e,done:0,of:1,note:``},addEventListener(`beforeunload`,Ot);try{let n=await t((t,n,r=``)=>{W.value={what:e,done:t,of:n,note:r}},r);return typeof n==`string`?c(n):c(...n),!0}catch(t){let{note:i}=W.value,a=r.aborted?`stopped`:t instanceof o?`${t.message} ${t.advice}`:String(t instanceof Error?t.message:t),s=[i,n].filter(e=>e!==``).join(`; `);return c(`${e}: ${a}${s&&` (${s})`}`,`bad`),!1}finally{removeEventListener(`beforeunload`,Ot),W.value=void 0}}function At(){if(W.value===void 0)return null;let{what:e,done:t,of:n,note:r}=W.value;return C`<section class="panel running" aria-label="Running">
        <label>${e} <progress max=${n} value=${n>0?t:void 0}></progress></label>
        <div class="row">
            <span class="note">${n>0?`${N(100*t/n)} %`:``} ${r}</span>
            <button type="button" onClick=${()=>Dt?.abort()}>Stop</button>
        </div>
    </section>`}async function jt(e,n,r,i){for(let a=1;;a++)try{let a=n.join(`
`);return await(await t(`POST`,e,{query:i,body:a,type:`application/x-ndjson`,signal:r})).json()}catch(e){if(r.throwIfAborted(),!(e instanceof o)||![0,429,503].includes(e.status)||a===8)throw e;e.code===`QueueFull`&&await f().file?.(),await new Promise(e=>setTimeout(e,Math.min(250*2**a,5e3))),r.throwIfAborted()}}const Mt=864e5,Nt=256*2**20,Pt=[{name:`workspaces`,title:`Desktops with their newest figures`,path:`/query/workspaces`},{name:`holds`,title:`Litigation holds`,path:`/query/holds`},{name:`stats`,title:`Statistics`,path:`/query/export`,days:!0},{name:`activity`,title:`Activity of users`,path:`/query/export`,days:!0},{name:`startup`,title:`Logons`,path:`/query/export`,days:!0},{name:`processes`,title:`Processes`,path:`/query/export`,days:!0}];async function Ft(e,{format:n,from:r,to:i,instanceId:a}){let o=await Lt(`${e.name}.${n}`,n===`csv`?`text/csv;charset=utf-8`:`application/x-ndjson`);o!==void 0&&(await kt(`Export of ${e.title.toLowerCase()}`,async(c,l)=>{let u=0,d=0,f=!0,p=e.days?Math.ceil((i-r)/Mt):0,m=0,h=()=>c(m,p,`${s(u)}, ${N(d)} lines`),g=/* @__PURE__ */ new Set,_=async r=>{let i=await t(`GET`,e.path,{query:{format:n,...r},signal:l}),a=i.headers.get(`x-warning`);a!==null&&g.add(a);let s=n===`csv`&&!f;f=!1;for await(let e of It(i)){let t=s?e.indexOf(10)+1:0;if(!(s&&t===0)){s=!1,u+=e.length-t;for(let n=t;n<e.length;n++)e[n]===10&&d++;h(),await o.write(e.subarray(t))}}return i};if(e.days)for(;m<p;m++){h();let t=r+m*Mt;await _({stream:e.name,instanceId:a,from:new Date(t).toISOString(),to:new Date(Math.min(t+Mt,i)).toISOString()})}else for(let e;e!==null;)h(),e=(await _({limit:500,nextToken:e,export:!0})).headers.get(`x-next-token`);return await o.close(),[`${e.name}.${n} is saved: ${s(u)}, ${N(d)} lines.`,...g].join(` `)},`nothing is saved`)||await o.abort())}async function*It(e){let t=e.body?.getReader();for(;;){let{done:e,value:n}=await t?.read()??{done:!0,value:void 0};if(e)return;yield n}}async function Lt(e,t){let n=globalThis.showSaveFilePicker;if(n!==void 0)try{return await(await n({suggestedName:e})).createWritable()}catch(e){if(e.name===`AbortError`)return}let r=[],i=0;return{write:e=>{if(i+=e.length,i>Nt)throw Error(`This browser cannot write to the disk, and keeps at most ${s(Nt)}. Choose a shorter range, or use deskfleet export.`);r.push(e)},close:()=>M(e,new Blob(r),t),abort:()=>{}}}var Rt=/* @__PURE__ */ e({default:()=>zt});function zt(){let{what:e=`stats`,format:t=`csv`}=E.value.query,n=Pt.find(({name:t})=>t===e)??Pt[0],r=pe(),[i,a]=g(``),o=e=>{e.preventDefault();let[a,o]=ie(r);Ft(n,{format:t===`ndjson`?`ndjson`:`csv`,from:a,to:o,instanceId:i.trim()})},c=e=>t=>A({[e]:t.target.value});return C`<div class="head"><h1>Export</h1></div>
        <${At} />
        <form class="panel export" onSubmit=${o}>
            <div class="row">
                <label>What <select value=${n.name} onChange=${c(`what`)}>${Pt.map(({name:e,title:t})=>C`<option key=${e} value=${e}>${t}</option>`)}</select></label>
                <label>Format <select value=${t} onChange=${c(`format`)}><option value="csv">CSV</option><option value="ndjson">NDJSON</option></select></label>
                ${n.days&&C`<label>Only this desktop (reported name) <input value=${i} maxlength="50" spellcheck=${!1} placeholder="all desktops" onInput=${e=>a(e.target.value)} /></label>`}
            </div>
            ${n.days&&C`<p class="note">Records of the time range in the header: ${ee(r)}, ${te()}.</p>`}
            <div class="row"><button class="primary" disabled=${W.value!==void 0}>Save as a file</button></div>
            <p class="note">
                In CSV, texts that a spreadsheet would take for formulas begin with an apostrophe. A browser that cannot write to the disk keeps the file in memory, at
                most ${s(Nt)}. ${O(`admin`)?C`The audit is saved on <a href=${w(`audit`)}>its own page</a>.`:``}
            </p>
        </form>`}const Bt=[`workSpId`,`username`,`computerName`,`state`,`runningMode`,`computeTypeName`,`protocol`,`region`,`directoryId`,`account`],Vt=(e,t)=>e.filter((e,n)=>!Object.values(t).includes(n));function Ht(e){let t=/* @__PURE__ */ new Map,n=Object.entries(e),r=typeof e.workSpId==`number`?e.workSpId+1:1;return e=>{if(e.error!==void 0)return{error:e.error,column:e.column};let i={};for(let[t,r]of n){let n=typeof r==`string`?r:e.cells?.[r];if(n!==void 0&&n!==``){if(n!==null&&typeof n!=`string`&&(n=String(n)),typeof n==`string`&&typeof r==`number`&&(n=n.replace(/^'(?=[=+\-@\t\r])/,``)),typeof n==`string`&&[...n.slice(0,514)].length>256)return{error:`${t} is longer than 256 characters.`,column:typeof r==`number`?r+1:1};i[t]=n}}let a=i.workSpId;if(typeof a!=`string`||[...a].length>64)return{error:a?`The id is longer than 64 characters.`:`The id is missing.`,column:r};let o=t.get(a);return o===void 0?(t.size<1e6&&t.set(a,e.line),{patch:i}):{error:`The id ${a} is on line ${o} already.`,column:r}}}async function Ut(e){let n=e.filter((t,n)=>t!==``&&e.indexOf(t)===n),r=JSON.stringify(Object.fromEntries(n.map(e=>[e,null]))),{mapping:i=[]}=await(await t(`POST`,`/operator/workspaces`,{query:{dryRun:!0},body:r,type:`application/x-ndjson`})).json(),a={};for(let{from:t,to:n}of i)n!==null&&(a[n]??=e.indexOf(t));return a}const G=262144,K=65536,Wt={"utf-8":`UTF-8`,"utf-16le":`UTF-16 LE`,"utf-16be":`UTF-16 BE`,"windows-1252":`Windows-1252`};var q=class extends Error{constructor(e,t,n){super(`Line ${t}, column ${n}: ${e}`)}};async function Gt(e){let[t,n,r,i]=new Uint8Array(await e.slice(0,4).arrayBuffer());if(t===80&&n===75&&r===3&&i===4)throw new q(`This is an archive, such as an Excel workbook. Save the sheet as CSV (UTF-8), and import that.`,1,1);if(t===31&&n===139)throw new q(`This is compressed with gzip: unpack it first.`,1,1);return t===255&&n===254||t!==0&&n===0?`utf-16le`:t===254&&n===255||t===0&&n!==0?`utf-16be`:`utf-8`}async function*Kt(e,t,n){let r=new TextDecoder(t);for(let t=0;t<e.size;t+=G){n?.throwIfAborted();let i=await e.slice(t,t+G).arrayBuffer(),a=t+G>=e.size;yield{text:r.decode(i,{stream:!a}),last:a,done:Math.min(t+G,e.size)}}}const J=(e,t,n,r)=>({line:t,column:n,text:e.slice(0,500),error:r}),qt=`The record is longer than ${K} characters.`;var Jt=class{rest=``;line=1;skipping=!1;*read(e,t){let n=this.rest+e,r=0,i=-1;for(;r<n.length;){let e=n.indexOf(`
`,r),a=e<0?n.length:e;if(this.skipping){if(r=a+1,e<0)break;this.skipping=!1,this.line++;continue}i<r&&(i=this.quotes(n,r));let o=i<a?this.quoted(n,r,t):e>=0||t?{stop:a,cells:void 0}:void 0;if((o?.stop??n.length)-r>K)yield J(n.slice(r,r+500),this.line,1,qt),this.skipping=o===void 0,this.skipping&&(r=n.length);else if(o!==void 0){let e=n.slice(r,o.stop).replace(/\r$/,``);e!==``&&(yield this.row(e,o.cells))}if(o===void 0)break;for(let e=n.indexOf(`
`,r);e>=0&&e<o.stop;e=n.indexOf(`
`,e+1))this.line++;this.line++,r=o.stop+1}this.rest=n.slice(r)}quotes(e,t){return 1/0}quoted(e,t,n){}row(e,t){return Xt(e,this.line,1)}},Yt=class extends Jt{constructor(e){super(),this.delimiter=e}quotes(e,t){let n=e.indexOf(`"`,t);return n<0?1/0:n}quoted(e,t,n){let r=[];for(let i=t;;i++){let a=``;if(e[i]===`"`){let o=i;for(;;){let s=e.indexOf(`"`,++i);if(s<0||s+1===e.length&&!n){if(!n&&e.length-o<=K)return;let i=e.slice(t,o).split(`
`).length-1;throw new q(`The quote that begins here has no end. What follows was not read.`,this.line+i,r.length+1)}if(a+=e.slice(i,s),i=s+1,e[i]!==`"`)break;a+=`"`}}let o=i;for(;i<e.length&&e[i]!==this.delimiter&&e[i]!==`
`;)i++;if(i===e.length&&!n)return;if(a+=e.slice(o,i),r.length<=256&&r.push(e[i]===this.delimiter?a:a.replace(/\r$/,``)),e[i]!==this.delimiter)return{stop:i,cells:r}}}row(e,t){return{line:this.line,column:1,text:e,cells:t??e.split(this.delimiter)}}};function Xt(e,t,n){try{let r=JSON.parse(e);return typeof r==`object`&&r&&!Array.isArray(r)?{line:t,column:n,text:e,value:r}:J(e,t,n,`A record must be an object, such as {"workSpId":"ws-1"}.`)}catch(r){let i=String(r.message),a=/position (\d+)/.exec(i)?.[1],o=/column (\d+)/.exec(i)?.[1];return J(e,t,a?Number(a)+n:Number(o??n),`This is not JSON: ${i}.`)}}var Zt=class{rest=``;line=1;first={line:1,column:1};column=0;begun=!1;over=!1;inText=!1;escaped=!1;depth=0;length=0;*read(e,t){let n=0;for(let t=0;t<e.length&&!this.over;t++){let r=e[t];if(this.column++,this.length++,r===`
`&&([this.line,this.column]=[this.line+1,0]),this.inText)this.escaped?this.escaped=!1:r===`\\`?this.escaped=!0:r===`"`&&(this.inText=!1);else if(!this.begun)this.inText=r===`"`,this.begun=r===`[`;else if(this.depth>0){if(r===`"`?this.inText=!0:r===`{`||r===`[`?this.depth++:(r===`}`||r===`]`)&&this.depth--,this.depth===0){let{line:r,column:i}=this.first,a=this.rest+e.slice(n,t+1);this.rest=``,yield this.length>K?J(a,r,i,qt):Xt(a,r,i)}}else if(r===`{`)this.depth=1,this.first={line:this.line,column:this.column},this.length=1,n=t;else if(r===`]`)this.over=!0;else if(!/[\s,]/.test(r))throw new q(`An object is expected here. What follows was not read.`,this.line,this.column)}if(this.depth>0&&(this.rest=(this.rest+e.slice(n)).slice(0,K)),t&&!this.over)throw new q(`The text ends before its list of records does.`,this.line,this.column)}};async function Qt(e,t){let n=t||await Gt(e),{value:r}=await Kt(e,n).next(),i=r?.text.trimStart()??``;if(i===``)throw Error(`The file is empty.`);if(/^(?:[^\n]*\0|[^]{0,8}[\x01-\x08\x0e-\x1f])/.test(i))throw Error(`This is not a text file.`);let a=i.startsWith(`[`)||/^\{\s*"(workspaces|nexttoken|hasmore)"\s*:/i.test(i)?`document`:i.startsWith(`{`)?`lines`:`csv`,o={file:e,encoding:n,kind:a,delimiter:`,`,columns:[],sample:[]};if(a===`csv`){let e=/^(?:"(?:[^"]|"")*"|[^"\n])*/.exec(i.slice(0,K))?.[0].replace(/"(?:[^"]|"")*"/g,``)??``;o.delimiter=[`,`,`;`,`	`].reduce((t,n)=>e.split(n).length>e.split(t).length?n:t)}for await(let{rows:e}of $t(o))if(o.sample.push(...e.slice(0,20-o.sample.length)),o.sample.length===20)break;if(a!==`csv`){o.columns=[...new Set(o.sample.flatMap(e=>Object.keys(rn(e.value))))].slice(0,256);for(let e of o.sample)e.cells=nn(e,o.columns)}return o}async function*$t(e,t){let{file:n,encoding:r,kind:i,delimiter:a}=e,o=i===`csv`?new Yt(a):i===`lines`?new Jt:new Zt,s=i!==`csv`;for await(let{text:i,last:a,done:c}of Kt(n,r,t)){let t=[],n;try{for(let n of o.read(i,a))if(s)t.push(tn(n,e));else{if(n.error!==void 0)throw new q(n.error,n.line,n.column);let t=n.cells;if(t.length>256)throw new q(`There are ${t.length>257?t.length:`more than 256`} columns; at most 256 can be read.`,n.line,257);if(n.text.includes(`\0`))throw new q(en,n.line,n.text.indexOf(`\0`)+1);e.columns=t.map(e=>e.trim()),s=!0}}catch(e){n=e}if(yield{rows:t,done:c},n!==void 0)throw n}if(!s)throw new q(`The first line must name the columns.`,1,1)}const en=`There is a null character here: the file is not text, or has another encoding.`;function tn(e,{kind:t,columns:n}){if(e.error!==void 0)return e;t===`csv`?e.cells?.length!==n.length&&(e.error=`The line has ${e.cells?.length} cells, the first line ${n.length}.${e.text.includes(`
`)?` A quote may be missing its end.`:``}`):e.cells=n.length===0?void 0:nn(e,n);let r=/[\0\ufffd]/.exec(e.text);return r!==null&&(e.error=r[0]===`\0`?en:`Some characters cannot be read: choose the encoding of the file, or save it as UTF-8.`,e.column=r.index+1),e}function nn({value:e},t){let n=rn(e);return t.map(e=>n[e])}function rn(e){let t=Object.create(null);for(let[n,r]of Object.entries(e??{}))if(Array.isArray(r))t[n]=r.join(`,`);else if(typeof r==`object`&&r)for(let[e,i]of Object.entries(r))t[`${n}.${e}`]=Array.isArray(i)?i.join(`,`):i;else t[n]=r;return t}const Y=T(void 0);function an(e,t,n,r){return kt(`${r?`Checking`:`Importing`} ${e}`,async(e,i)=>{let a={only:r,over:!1,good:0,created:0,changed:0,bad:0,rejected:[],warnings:[],columns:t.columns},o=()=>void(Y.value={...a}),s=(e,t,n)=>{a.bad++,a.rejected.length<1e4&&a.rejected.push({line:e.line,column:n,error:t,text:e.text.slice(0,500),cells:e.cells})},c=async e=>{let t=e;for(let e=!0;t.length>0;e=!1){let o=await jt(`/operator/workspaces`,t.map(({line:e})=>e),i,r?{dryRun:!0}:void 0);if(e){a.good+=o.upserted;for(let{line:e,message:n}of o.warnings)a.warnings.length<20&&a.warnings.push(`Line ${t[e-1]?.row.line??`?`}: ${n}`)}for(let{line:e,message:r}of o.errors)s(t[e-1].row,r,on(r,n));t=o.rejected>o.errors.length&&o.errors.length>0?t.slice(o.errors.at(-1).line):[]}},l=re(({type:e,detail:t})=>{e!==`import.committed`||t.by!==j.value?.name||r||(a.created+=t.created??0,a.changed+=t.changed??0,o())});try{let r=Ht(n),l=[];for await(let{rows:n,done:u}of $t(t,i)){for(let e of n){let t=r(e);`error`in t?s(e,t.error,t.column):l.push({row:e,line:JSON.stringify(t.patch)}),l.length===1e3&&(await c(l),l=[],o())}e(u,t.file.size,`${N(a.good)} rows, ${N(a.bad)} rejected`)}await c(l)}catch(e){throw a.problem=i.aborted?void 0:e,e}finally{a.over=!0,a.rejected.sort((e,t)=>e.line-t.line),o(),setTimeout(l,5e3)}let u=r?`${N(a.good)} rows can be imported, ${N(a.bad)} cannot.`:`${N(a.good)} rows imported, ${N(a.bad)} rejected.`;return a.bad>0?[u,`bad`]:u})}function on(e,t){let n=Object.entries(t).find(([t])=>e.includes(t))?.[1];return typeof n==`number`?n+1:1}const X=T(void 0),Z=T(void 0);async function sn(e,t,n){if(W.value===void 0){Y.value=void 0,Z.value=void 0;try{let r=await Qt(e,n);X.value={name:t,source:r,mapping:await Ut(r.columns)}}catch(e){X.value=void 0,Z.value=e}}}function cn(){me(()=>{let e=e=>e.dataTransfer?.types.includes(`Files`)&&e.preventDefault(),t=(e,t)=>{if(e.target.closest?.(`input, textarea, dialog`))return;let[n]=t?.files??[],r=t?.getData(`text/plain`)??``;(n!==void 0||r!==``)&&(e.preventDefault(),sn(n??new Blob([r]),n?.name??`what was pasted`))},n=e=>t(e,e.dataTransfer),r=e=>t(e,e.clipboardData);return document.addEventListener(`dragover`,e),document.addEventListener(`drop`,n),document.addEventListener(`paste`,r),()=>{document.removeEventListener(`dragover`,e),document.removeEventListener(`drop`,n),document.removeEventListener(`paste`,r)}},[])}function ln(){return cn(),C`<section class="panel import">
        <h2>Import your desktops</h2>
        <p>
            Choose a file, drop it on this page, or paste its text: JSON such as <code>aws workspaces describe-workspaces</code> prints it, NDJSON, a saved
            answer of <code>GetAllWorkSpaces</code>, or CSV whose first line names the columns. Existing desktops are updated; missing fields stay unchanged.
        </p>
        <p><label class="button file-button">Choose a file … <input type="file" class="hidden" accept=".csv,.tsv,.json,.ndjson,.jsonl,.txt" disabled=${W.value!==void 0} onChange=${e=>{let[t]=e.target.files;e.target.value=``,t!==void 0&&sn(t,t.name)}} /></label></p>
        <${d} error=${Z.value} />
        ${X.value&&C`<${un} ...${X.value} />`}
        ${Y.value&&C`<${mn} ...${Y.value} />`}
    </section>`}function un({name:e,source:t,mapping:r}){let i=W.value!==void 0,a=Vt(t.columns,r),o=t.columns.map((e,t)=>({name:String(t),title:e,fixed:!0,show:e=>C`<${p} text=${String(e.cells?.[t]??``).slice(0,100)} />`})),s=n=>void an(e,t,r,n);return C`<h3>${e}</h3>
        <label>
            Encoding
            <select value=${t.encoding} disabled=${i} onChange=${n=>sn(t.file,e,n.target.value)}>
                ${Object.entries(Wt).map(([e,t])=>C`<option key=${e} value=${e}>${t}</option>`)}
            </select>
        </label>
        <div class="row">
            <button type="button" disabled=${i||r.workSpId===void 0} onClick=${()=>s(!0)}>Check only</button>
            <button type="button" class="primary" disabled=${i||r.workSpId===void 0} onClick=${()=>s(!1)}>Import</button>
        </div>
        <p class="note">The first ${N(t.sample.length)} rows of the file:</p>
        <${n} columns=${[{name:`line`,title:`Line`,number:!0,fixed:!0},...o]} rows=${t.sample} caption="First rows of the file" rowKey=${e=>`${e.line} ${e.column}`} />
        <h3>Fields</h3>
        <div class="mapping">${Bt.map(e=>C`<${fn} key=${e} field=${e} columns=${t.columns} mapping=${r} busy=${i} />`)}</div>
        ${a.length>0&&C`<p class="note">Left out: ${a.slice(0,20).join(`, `)}${a.length>20&&` and ${a.length-20} more`}.</p>`}
        ${r.workSpId===void 0&&C`<p class="note">Choose the column with the id: nothing can be imported without it.</p>`}`}const dn={workSpId:`Id`,computerName:`Computer`,username:`User`,state:`State`,runningMode:`Running mode`,computeTypeName:`Compute type`,region:`Region`,account:`Account`,directoryId:`Directory`,protocol:`Protocol`};function fn({field:e,columns:t,mapping:n,busy:r}){let i=n[e],a=t=>{let{[e]:r,...i}=n;X.value&&={...X.value,mapping:t===void 0?i:{...i,[e]:t}}};return C`<div>
        <label>
            ${dn[e]??e}
            <select name=${e} value=${typeof i==`string`?`fixed`:i??``} disabled=${r} onChange=${({target:{value:e}})=>a(e===``?void 0:e===`fixed`?``:Number(e))}>
                <option value="">–</option>
                ${e!==`workSpId`&&C`<option value="fixed">One value for all</option>`}
                ${t.map((e,t)=>C`<option key=${t} value=${t} disabled=${i!==t&&Object.values(n).includes(t)}>${e||`Column ${t+1}`}</option>`)}
            </select>
        </label>
        ${typeof i==`string`&&C`<input aria-label=${`Value of ${dn[e]??e} for all`} maxlength="256" value=${i} disabled=${r} onInput=${e=>a(e.target.value)} />`}
    </div>`}const pn=[{name:`line`,title:`Line`,number:!0},{name:`column`,title:`Column`,number:!0},{name:`error`,title:`Error`},{name:`text`,title:`Row of the file`,fixed:!0,show:e=>C`<code><${p} text=${e.text} /></code>`}];function mn({only:e,over:t,good:r,created:i,changed:a,bad:o,rejected:s,warnings:c,columns:l,problem:u}){return C`<h3>${e?`Check`:`Import`}${!t&&`, until now`}</h3>
        <p role="status">
            ${e?`${N(r)} rows can be imported`:`${N(r)} rows imported: ${N(i)} desktops created, ${N(a)} changed`}; ${N(o)} rejected.
            ${o>s.length&&` The first ${N(1e4)} rejected rows are kept.`}
        </p>
        <${d} error=${u} />
        <${h} warnings=${c} />
        ${s.length>0&&C`<div class="row"><button type="button" onClick=${()=>{let e=s.map(({cells:e,line:t,column:n,error:r,text:i})=>({...Object.fromEntries(l.map((t,n)=>[t,e?.[n]])),line:t,column:n,error:r,...e?{}:{text:i}}));M(`rejected.csv`,P([.../* @__PURE__ */ new Set([...l,`line`,`column`,`error`,`text`])],e))}}>Export the rejected rows (CSV)</button></div>
            <${n} columns=${pn} rows=${s} caption="Rejected rows" most=${100} rowKey=${e=>`${e.line} ${e.column}`} />`}`}function hn({desktops:e,reporting:t}){return C`${O(`admin`)&&C`<div class="panels">
            <section class="panel">
                <h2>Look around in a demo fleet</h2>
                <p>320 desktops of five sites with a working week of statistics, logons, activity and processes, some actions, and three litigation holds.</p>
                ${e===0||W.value!==void 0?C`<p><button type="button" class="primary" disabled=${W.value!==void 0} onClick=${gn}>Load the demo fleet</button></p>`:C`<p class="note">It can be loaded into an empty fleet only. This one has ${N(e)} desktops.</p>`}
            </section>
            <${ln} />
        </div>`}
        <${_n} empty=${e===0} reporting=${t} />`}async function gn(){let{demo:e}=await Promise.resolve().then(()=>he);await kt(`Loading the demo fleet`,async(n,r)=>{let i=0;for(let{method:a,path:o,query:s,lines:c,json:l,done:u,of:d}of e(20261120,Date.now()))r.throwIfAborted(),n(u,d,`${N(i)} records`),c===void 0?await t(a,o,{query:s,json:l,signal:r}):(await jt(o,c,r),o.endsWith(`telemetry`)&&(i+=c.length));return await f().file?.(),`The demo fleet is loaded: ${N(i)} records.`},`what arrived stays`)&&se(`overview`)}function _n({empty:e,reporting:t}){let n=y(`first ${e}`,async e=>(await a(`/query/workspaces`,{limit:1,fields:`workSpId`},e)).rows[0]?.workSpId).data??`ws-1`;return C`<section class="panel">
        <h2>Connect an agent</h2>
        <p>
            An agent on each desktop posts what it measures; <code>instanceId</code> is the desktop's id or computer name.
            ${f().kind===`server`&&C` Where the server asks agents for a key, it must have the scope <code>ingest</code>${O(`admin`)&&C` (<a href=${w(`keys`)}>issue one</a>)`}.`}
        </p>
        ${(f().kind===`server`?bn(n,e):xn(n,e)).map(([e,t])=>C`<${Sn} key=${e} title=${e} line=${t} />`)}
        <p class="note" role="status">${t?`● Reported in the last 15 minutes: ${N(t)}.`:`◔ No desktop has reported in the last 15 minutes.`}</p>
    </section>`}const vn=e=>JSON.stringify({instanceId:e,processorInUse:12,physicalMemory:8589934592,availablePhysicalMemory:5368709120}),yn=e=>JSON.stringify({workSpId:e,username:`jdoe`,computerName:`WSAMZN-1`,state:`AVAILABLE`,runningMode:`ALWAYS_ON`});function bn(e,t){let n=e=>new URL(e,document.baseURI).href,r=e=>`'${e.replaceAll(`'`,`'\\''`)}'`,i=r(vn(e));return[...t?[[`First a desktop, with a key of scope admin`,`curl -H 'X-Api-Key: KEY' -H 'Content-Type: application/x-ndjson' -d ${r(yn(e))} ${n(`operator/workspaces`)}`]]:[],[`curl`,`curl -H 'Content-Type: application/json' -d ${i} ${n(`api/Stats/Post`)}`],[`PowerShell`,`Invoke-RestMethod -Method Post -ContentType application/json -Body '${vn(e).replaceAll(`'`,`''`)}' ${n(`api/Stats/Post`)}`]]}function xn(e,t){let n=`const { connect } = await import("${new URL(`../opfs.js`,document.baseURI).href}"); const fleet = await connect({ name: "console.redb" });`,r=t?` await fleet.importWorkspaces([${yn(e)}]);`:``,i=` await fleet.fetch(new Request("/api/Stats/Post", { method: "POST", headers: { "content-type": "application/json" }, body: ${JSON.stringify(vn(e))} }));`;return[[`JavaScript, in a page of this origin or the console of the browser`,n+r+i]]}function Sn({title:e,line:t}){return C`<div>
        <div class="row line-title"><h3>${e}</h3>${navigator.clipboard&&C`<button type="button" class="quiet" aria-label=${`Copy the line for ${e}`} onClick=${()=>navigator.clipboard.writeText(t).then(()=>c(`Copied.`),()=>c(`The browser does not let the page copy: mark the text.`,`bad`))}>Copy</button>`}</div>
        <pre tabindex="0" aria-label=${e}>${t}</pre>
    </div>`}var Cn=/* @__PURE__ */ e({default:()=>wn});function wn(){let e=y(`fleet`,e=>a(`/query/fleet`,{},e),{every:1e4,on:({type:e})=>e===`import.committed`});return C`<div class="head"><h1>Import</h1></div>
        <${At} />
        <${hn} desktops=${e.data?.workSpaces} reporting=${e.data?.reporting15m} />`}const Tn={read:`Read everything except keys and older audit entries`,act:`Act on desktops: reboot, start, rebuild, terminate and the like`,admin:`Everything: import, holds, keys, the whole audit; includes read and act`,ingest:`Post telemetry, where the server asks for a key; nothing else`,audit:`The audit and the holds; nothing else`},En={.5:`12 hours`,30:`30 days`,90:`90 days`,365:`A year`,"":`Never`},Q=_.map(({name:e})=>e);function Dn({onIssued:e,onClose:t}){let[n,r]=g(void 0);return C`<${I} open=${!0} title=${n===void 0?`Issue a key`:`The key is issued`} onClose=${t}>
        ${n===void 0?C`<${On} onClose=${t} onIssued=${t=>(r(t),e())} />`:C`<${kn} issued=${n} onClose=${t} />`}
    <//>`}function On({onIssued:e,onClose:t}){let[n,r]=g(void 0),[i,a]=g(`helpdesk`),[o,s]=g(F.helpdesk.scopes),[c,l]=g(F.helpdesk.actions??Q),[u,f]=g(``),[p,m]=g(``),h=e=>{let{scopes:t,actions:n=Q,perHour:r}=F[e];a(e),s(t),l(n),f(String(r??``))},v=(e,t)=>e.includes(t)?e.filter(e=>e!==t):[...e,t],y=o.includes(`act`)&&!o.includes(`admin`);return C`<form class="form" onSubmit=${async t=>{t.preventDefault();let n=new FormData(t.target),i=n.get(`days`);if(o.length===0)return r(/* @__PURE__ */ Error(`Choose at least one scope.`));if(y&&c.length===0)return r(/* @__PURE__ */ Error(`Choose at least one action, or leave the scope act out.`));let a={...c.length<Q.length?{actions:c}:{},...p.trim()===``?{}:{filter:{region:p.trim()}},...u===``?{}:{destructivePerHour:Number(u)}},s=i===``?null:new Date(Date.now()+Number(i)*864e5).toISOString();try{e(await k(`POST`,`/operator/keys`,{},{name:n.get(`name`),scopes:o,expires:s,...y?a:{}}))}catch(e){r(e)}}}>
        <label>Name <input name="name" required maxlength="256" autocomplete="off" autofocus /></label>
        <label>For <select name="task" value=${i} onChange=${e=>h(e.target.value)}>${Object.entries(F).map(([e,{title:t}])=>C`<option key=${e} value=${e}>${t}</option>`)}</select></label>
        <details open=${i===`own`}>
            <summary>Permissions: <code>${o.join(` `)}</code>${y&&` · ${c.length===Q.length?`all actions`:`${c.length} of ${Q.length} actions`}`}</summary>
            <fieldset>
                <legend>Scopes</legend>
                ${Object.entries(Tn).map(([e,t])=>C`<label key=${e} class="check"><input type="checkbox" name="scope" value=${e} checked=${o.includes(e)} onChange=${()=>(a(`own`),s(v(o,e)))} /><span><code>${e}</code> <span class="note">${t}</span></span></label>`)}
            </fieldset>
            ${y&&C`<fieldset>
                        <legend>Actions</legend>
                        ${_.map(({name:e,title:t})=>C`<label key=${e} class="check"><input type="checkbox" name="action" value=${e} checked=${c.includes(e)} onChange=${()=>(a(`own`),l(v(c,e)))} /> ${t}</label>`)}
                    </fieldset>
                    <label>Destructive actions in an hour <input name="perHour" type="number" min="0" placeholder="any number" value=${u} onInput=${e=>f(e.target.value)} /></label>`}
        </details>
        ${y&&C`<label>Only desktops of the region <input name="region" maxlength="256" placeholder="all, or eu-west-1, or in.eu-west-1,eu-central-1" value=${p} onInput=${e=>m(e.target.value)} /></label>`}
        <label>Expires after
            <select name="days">${[`30`,`90`,`365`,`0.5`,``].map(e=>C`<option key=${e} value=${e}>${En[e]}</option>`)}</select>
        </label>
        <${d} error=${n} />
        <div class="dialog-actions"><button type="button" onClick=${t}>Cancel</button><button class="primary">Issue</button></div>
    </form>`}function kn({issued:{key:e,scopes:t,name:n},onClose:r}){return C`<p>The key <b><${p} text=${n} /></b>. It is shown only now: put it where the program reads it, such as a secret store.</p>
        <${L} text=${e} label="the key" />
        ${f().kind===`server`&&C`<p>To try it:</p><${L} text=${An(e,t)} label="the curl command" />`}
        <div class="dialog-actions"><button type="button" class="primary" onClick=${r}>Done, I saved it</button></div>`}function An(e,t){let n=e=>new URL(e,document.baseURI.replace(/[?#].*$/,``)).href,r=`curl -H 'X-Api-Key: ${e}'`;if(t.includes(`read`)||t.includes(`admin`))return`${r} ${n(`query/fleet`)}`;let i=`-H 'Content-Type: application/json'`;return t.includes(`act`)?`${r} ${i} -d '{"action":"RebootWorkSpace","workSpaceIds":["ws-1"]}' ${n(`query/preview`)}`:`${r} ${i} -d '{"instanceId":"ws-1","processorInUse":12}' ${n(`api/Stats/Post`)}`}function jn({shown:{id:e,name:t,scopes:n,lastUsed:r},onRevoked:a,onClose:o}){let[s,l]=g(void 0),[u,f]=g(!1),h=s?.code===`LastAdminKey`;return C`<${I} open=${!0} title="Revoke a key" onClose=${o}>
        <form class="form" onSubmit=${async n=>{n.preventDefault();try{await k(`DELETE`,`/operator/keys/${e}`,h?{force:!0}:{}),c(`The key ${t} is revoked.`),a(),o()}catch(e){l(e)}}}>
            <p>The key <b><${p} text=${t} /></b> (${n}) is refused from now on. What uses it stops working. This cannot be undone.</p>
            <dl class="facts"><dt>Last used</dt><dd>${r===null?`never`:`${b(r,Date.now())}, ${m(r)}`}</dd></dl>
            ${e===j.value?.id&&C`<p class="problem">This session has this key: you will be signed out.</p>`}
            ${h?C`<p class="problem" role="alert">It is the last key of scope <code>admin</code> that does not expire. Without one nobody can issue keys, import, or place holds over the interface: a new one then comes only from <code>deskfleet keys issue</code> beside the stopped server. Issue another admin key first.</p>
                      <${i} word=${t} onChange=${f} />`:C`<${d} error=${s} />`}
            <div class="dialog-actions"><button type="button" onClick=${o}>Cancel</button><button class="danger" disabled=${h&&!u}>${h?`Revoke the last admin key`:`Revoke`}</button></div>
        </form>
    <//>`}function Mn({keys:e,revoke:t,reload:r}){let[i,a]=g(!1),o=Date.now(),s=e.map(e=>({...e,...v(e.name),scopes:e.scopes.join(` `)})),l=({id:e})=>e===j.value?.id,u=s.find(l)?.person,d=u?s.filter(e=>e.person===u&&!l(e)):[],f=async()=>{a(!0);try{for(let{id:e}of d)await k(`DELETE`,`/operator/keys/${e}`);c(`${d.length} other ${d.length===1?`session`:`sessions`} of ${u} revoked.`)}catch(e){c(e instanceof Error?e.message:String(e),`bad`)}a(!1),r()},h=[{name:`person`,title:`Name`,show:e=>C`<span class="long">${e.person===``?C`<span class="note">no name</span>`:C`<${p} text=${e.person} />`} ${l(e)&&C`<span class="tag">this session</span>`}</span>`},{name:`browser`,title:`Browser`,show:({browser:e})=>e===``?`–`:C`<${p} text=${e} />`},{name:`scopes`,title:`Permissions`,show:({scopes:e})=>e.split(` `).map(e=>C`<span key=${e} class="tag">${e}</span> `)},{name:`created`,title:`Since`,show:({created:e})=>C`<span class="nowrap">${m(e)}</span>`},{name:`expires`,title:`Expires`,show:({expires:e})=>C`<span class="nowrap">${e&&m(e)}</span>`},{name:`lastUsed`,title:`Last used`,show:({lastUsed:e})=>e===null?`never`:C`<span title=${m(e)} class="nowrap">${b(e,o)}</span>`},{name:`revoke`,title:`Revoke`,fixed:!0,unsaved:!0,show:e=>C`<button type="button" class="danger" aria-label=${`Revoke key ${e.id}`} onClick=${()=>t(e)}>Revoke</button>`}],_=C`<button type="button" disabled=${i||d.length===0} onClick=${f}>Revoke all my other sessions</button>`;return C`<h2>Sessions</h2>
        <p class="note">Who is signed in here. A session ends at sign-out, and after 12 hours by itself.</p>
        <${n} caption="Sessions" sort="-created" tools=${_} rows=${s} rowKey=${({id:e})=>e} columns=${h} empty="Nobody is signed in with a session." />`}var Nn=/* @__PURE__ */ e({default:()=>Fn});const Pn=({type:e})=>e.startsWith(`key.`);function $({revoked:e,expires:t},n){return e===null?t!==null&&Date.parse(t)<=n?{glyph:`◌`,tone:`off`,label:`Expired`}:{glyph:`●`,tone:`good`,label:`Active`}:{glyph:`⊘`,tone:`off`,label:`Revoked`}}function Fn(){let e=y(`keys`,e=>a(`/operator/keys`,{},e),{on:Pn}),t=E.value.query.issue!==void 0,n=e=>A({issue:e?`1`:void 0}),[r,i]=g(void 0);return C`<div class="head">
            <h1>Keys</h1>
            <button type="button" class="primary" onClick=${()=>n(!0)}>Issue a key</button>
        </div>
        <p class="note">A program sends its key with each request, as <code>X-Api-Key</code>. Keys are stored as hashes; a lost key cannot be recovered, issue a new one.</p>
        <${l} of=${e}>${t=>C`<${In} keys=${t.keys} revoke=${i} reload=${e.reload} />`}<//>
        ${t&&C`<${Dn} onIssued=${e.reload} onClose=${()=>n(!1)} />`}
        ${r&&C`<${jn} shown=${r} onRevoked=${e.reload} onClose=${()=>i(void 0)} />`}`}function In({keys:e,revoke:t,reload:n}){let r=Date.now(),i=e.filter(e=>$(e,r).tone===`good`&&v(e.name)!==void 0);return C`<${Ln} keys=${e.filter(({name:e})=>v(e)===void 0)} revoke=${t} />
        <${Mn} keys=${i} revoke=${t} reload=${n} />`}function Ln({keys:e,revoke:t}){let r=Date.now(),i=E.value.query.ended!==void 0,a=e.filter(e=>i||$(e,r).tone===`good`).map(e=>({...e,scopes:e.scopes.join(` `),state:$(e,r).label})),o=({id:e})=>e===j.value?.id,s=[{name:`id`,title:`Id`,number:!0},{name:`name`,title:`Name`,show:e=>C`<span class="long"><${p} text=${e.name} /> ${o(e)&&C`<span class="tag">this session</span>`}</span>`},{name:`scopes`,title:`Scopes`,show:({scopes:e})=>e.split(` `).map(e=>C`<span key=${e} class="tag">${e}</span> `)},{name:`limits`,title:`Limits`,show:Rn},{name:`state`,title:`State`,show:e=>{let{glyph:t,tone:n,label:i}=$(e,r);return C`<span class="state ${n}"><span class="glyph" aria-hidden="true">${t}</span>${i}</span>`}},{name:`created`,title:`Created`,show:({created:e})=>C`<span class="nowrap">${m(e)}</span>`},{name:`expires`,title:`Expires`,show:({expires:e})=>e===null?`never`:C`<span class="nowrap">${m(e)}</span>`},{name:`lastUsed`,title:`Last used`,show:({lastUsed:e})=>e===null?`never`:C`<span title=${m(e)} class="nowrap">${b(e,r)}</span>`}];i&&s.push({name:`revoked`,title:`Revoked`,show:e=>e.revoked&&m(e.revoked)}),s.push({name:`revoke`,title:`Revoke`,fixed:!0,unsaved:!0,show:e=>e.state===`Active`&&C`<button type="button" class="danger" aria-label=${`Revoke key ${e.id}`} onClick=${()=>t(e)}>Revoke</button>`});let c=C`<label class="check"><input type="checkbox" checked=${i} onChange=${()=>A({ended:i?void 0:`1`})} /> Show revoked and expired</label>`;return C`<${n} caption="Keys of the ${f().kind===`server`?`server`:`fleet`}" file="keys" sort="-id" tools=${c} rows=${a} rowKey=${({id:e})=>e} columns=${s} />`}const Rn=({actions:e,filter:t,destructivePerHour:n})=>[e,Object.values(t??{}),n===null?[]:`${n}/h`].flat().filter(Boolean).join(`, `),zn=`/operator/backups`,Bn=[{name:`file`,title:`File`},{name:`at`,title:`Begun`,show:({at:e})=>m(e)},{name:`bytes`,title:`Size`,number:!0,show:({bytes:e})=>s(e)}];function Vn(){let e=y(`backups`,e=>a(zn,{},e));return C`<section class="panel">
        <h2>Backup</h2>
        <p>A consistent copy of the whole store, in one file, written while the server runs.</p>
        <${l} of=${e}>${({configured:t,backups:n})=>t?C`<${Hn} backups=${n} reload=${e.reload} />`:C`<${Un} />`}<//>
    </section>`}function Hn({backups:e,reload:t}){let[r,i]=g({});return C`<div class="row"><button type="button" disabled=${r.busy} onClick=${async()=>{i({busy:!0});try{let{file:e,bytes:t}=await k(`POST`,zn);c(`${e} is written, ${s(t)}.`),i({})}catch(e){i({error:e})}t()}}>${r.busy?`Writing …`:`Write a backup now`}</button></div>
        <${d} error=${r.error} />
        <${n} caption="Backups" file="backups" columns=${Bn} rows=${e} rowKey=${({file:e})=>e} empty="None is written yet." />`}const Un=()=>C`<p>Start the server with <code>--backups FOLDER</code>: then they are written here, and at this signal:</p>
    <${L} text="systemctl kill --signal=SIGUSR1 deskfleet" label="the signal" />
    <p>Beside a server that is stopped:</p>
    <${L} text="deskfleet backup deskfleet-backup.redb" label="the command" />`;function Wn({onChanged:e}){let[t,n]=g(!1),[r,i]=g(!1),a=y(`kept`,async()=>({persisted:await navigator.storage.persisted(),...await navigator.storage.estimate()})),o=async t=>{n(!0);try{c(await t())}catch(e){c(e instanceof Error?e.message:String(e),`bad`)}n(!1),a.reload(),e()},l=async()=>`${N(await f().file?.())} records were filed.`,u=async()=>await navigator.storage.persist()?`The browser keeps the data until you delete it.`:`The browser refused: it may delete the data when the disk is full. Until then it is kept, also when the browser is closed.`,{persisted:d,usage:p,quota:m}=a.data??{};return C`<section class="panel">
        <h2>This browser</h2>
        <p>The fleet is a file of this browser, for this address. Nothing leaves this machine.</p>
        <dl class="facts">
            <dt>Kept</dt><dd>${d?`until you delete it`:`until the browser needs the space`}</dd>
            <dt>Used</dt><dd>${s(p)} of ${s(m)}</dd>
        </dl>
        <div class="row">
            <button type="button" disabled=${t} onClick=${()=>o(l)}>File the queue now</button>
            <button type="button" disabled=${t||d} onClick=${()=>o(u)}>Keep the data</button>
            <button type="button" class="danger" disabled=${t} onClick=${()=>i(!0)}>Wipe the fleet</button>
        </div>
        ${r&&C`<${Gn} onClose=${()=>i(!1)} />`}
    </section>`}function Gn({onClose:e}){let[t,n]=g(!1),[r,a]=g(!1);return C`<${I} open=${!0} title="Wipe the fleet" onClose=${e}>
        <form class="form" onSubmit=${async t=>{t.preventDefault(),a(!0);try{await f().wipe?.(),sessionStorage.clear(),location.reload()}catch(t){c(t instanceof Error?t.message:String(t),`bad`),e()}}}>
            <p>Deletes all desktops, their telemetry, the audit and the keys from this browser, in all tabs. This cannot be undone.</p>
            <${i} word=${`wipe`} onChange=${n} />
            <div class="dialog-actions"><button type="button" onClick=${e}>Cancel</button><button class="danger" disabled=${!t||r}>Wipe</button></div>
        </form>
    <//>`}const Kn=[{name:`node`,title:`Node`},{name:`position`,title:`Position`,number:!0,show:({position:e})=>N(e)},{name:`lag`,title:`Entries behind`,number:!0,show:({lag:e})=>N(e)},{name:`silentMs`,title:`Last report`,show:({silentMs:e})=>`${x(e)} ago`},{name:`state`,title:`State`}];function qn(){let e=y(`nodes`,e=>a(`/operator/cluster`,{},e),{every:5e3}),{nodes:t=[],problems:r=[]}=e.data??{},i=Math.max(...t.map(({reportedAt:e})=>Date.parse(e))),o=t.map(e=>({...e,state:e.halted?`halted`:`runs`,silentMs:i-Date.parse(e.reportedAt)}));return C`<section class="panel">
        <h2>Nodes</h2>
        <${d} error=${e.error} retry=${e.reload} />
        ${r.map(e=>C`<p key=${e} class="problem" role="alert">${e}</p>`)}
        <${n} caption="Nodes" file="nodes" columns=${Kn} rows=${o} rowKey=${({node:e})=>e} empty="None has reported yet." />
    </section>`}var Jn=/* @__PURE__ */ e({default:()=>Zn});async function Yn(e){let n=n=>t(`GET`,n,{signal:e}),r=f().kind===`server`,[i,a,o]=await Promise.all([n(`/query/metrics`),r?n(`/metrics`).then(e=>e.text()).catch(()=>``):``,r?f().fetch(`/readyz`,{signal:e}).then(async e=>e.ok?`ready`:await e.text(),()=>void 0):void 0]),s=await i.text(),c=a||s,l=i.headers.has(`x-deskfleet-position`);return{at:Date.now(),text:c,metrics:{...Xn(s),...Xn(a)},ready:o,node:l}}function Xn(e){let t=e.matchAll(/^deskfleet_(\w+(?:\{.*\})?) (\S+)$/gm);return Object.fromEntries([...t].map(([,e,t])=>[e,Number(t)]))}function Zn(){let e=y(`store`,Yn,{every:1e4}),t=r([]);return e.data!==void 0&&t.current.at(-1)!==e.data&&(t.current=[...t.current,e.data].slice(-360)),C`<div class="head"><h1>Store</h1></div>
        <${l} of=${e}>${n=>C`<${er} reading=${n} course=${t.current} reload=${e.reload} />`}<//>`}const Qn=[1e-4,25e-5,5e-4,.001,.0025,.005,.01,.025,.05,.1,.25,1,5];function $n({metrics:e,at:t,ready:n}){let r=e=>e?(/* @__PURE__ */ new Date(1e3*e)).toISOString():void 0,i=Qn.find(t=>2*e[`commit_duration_seconds_bucket{le="${t}"}`]>=e.commits_total),a={Queue:[[`Still being processed`,N(e.queue_records)],[`Limit`,N(e.queue_records_max)],[`In the file`,s(e.queue_bytes)],[`Oldest`,e.queue_records>0?`${x(1e3*e.oldest_queued_record_age_seconds)} old`:`–`],[`Processed since the start`,N(e.records_filed_total)]],Commits:[[`Since the start`,N(e.commits_total)],[`Writes per commit`,e.commits_total>0?u(e.commit_mutations_total/e.commits_total):`–`],[`Median commit`,i===void 0?`–`:`${i*1e3} ms`],[`Failed`,N(e.commit_failures_total)],[`Reopened after error`,N(e.store_reopened_total)]],Upkeep:[[`Last round`,b(r(e.maintenance_last_success_timestamp_seconds),t)],[`Failed rounds`,N(e.maintenance_failures_total)],[`Retention applied up to`,m(r(e.retention_applied_timestamp_seconds))]]};if(n===void 0)return{Queue:a.Queue.slice(0,4),Upkeep:a.Upkeep.slice(2)};let o=/version="([^"]*)"/.exec(Object.keys(e).find(e=>e.startsWith(`build_info`))??``)?.[1];return a.Server=[[`Status`,n],[`Version`,o??`–`],[`Connections`,`${N(e.connections)} of ${N(e.connections_max)}`],[`Internal errors`,N(e.internal_errors_total)],[`File removed or replaced`,e.file_displaced===1?`yes: writes are refused until it is back`:`no`]],a}function er({reading:e,course:t,reload:n}){let{metrics:r,text:i,ready:a,node:o}=e,c=$n(e),l=100*r.queue_records/r.queue_records_max;return C`${a!==void 0&&a!==`ready`&&C`<p class="problem" role="alert">The store cannot be used: ${a}</p>`}
        <dl class="figures">
            <div><dt>Size</dt><dd>${s(r.store_bytes)}</dd></div>
            <div><dt>Queue</dt><dd>${N(r.queue_records)} <small>${S(l)} of limit</small></dd></div>
            <div><dt>Records a second</dt><dd>${u(r.records_per_second)}</dd></div>
        </dl>
        <div class="table-tools">
            <span class="note">Updates every 10 s</span>
            <button type="button" class="quiet" onClick=${()=>M(`metrics.txt`,i,`text/plain;charset=utf-8`)}>Save the metrics, for Prometheus</button>
            <button type="button" class="quiet" onClick=${()=>M(`store.csv`,P([`area`,`name`,`value`],Object.entries(c).flatMap(([e,t])=>t.map(([t,n])=>({area:e,name:t,value:n})))))}>Export CSV</button>
        </div>
        <div class="panels">
            ${Object.entries(c).map(([e,n])=>C`<section key=${e} class="panel">
                    <h2>${e}</h2>
                    ${e===`Queue`&&C`<${nr} used=${l} course=${t.map(({metrics:e})=>e.queue_records)} />`}
                    <dl class="facts">${n.map(([e,t])=>C`<dt>${e}</dt><dd>${t}</dd>`)}</dl>
                </section>`)}
            ${f().kind===`engine`?C`<${Wn} onChanged=${n} />`:C`${O(`admin`)&&C`${o&&C`<${qn} />`}<${Vn} />`}<${tr} />`}
        </div>`}const tr=()=>C`<section class="panel">
    <h2>Check</h2>
    <p>Reads a whole store and says whether every record is as it should be. The store must not be open: check a backup, or stop the server.</p>
    <${L} text="deskfleet check --data deskfleet-backup.redb" label="the command" />
</section>`;function nr({used:e,course:t}){return C`<meter class="gauge" min="0" max="100" low="50" high="80" optimum="0" value=${e} aria-label="Queue, part of its limit">${S(e)}</meter>
        <div class="row"><${de} values=${t} label="Queue while this page is open" width=${240} /><span class="note">while this page is open</span></div>`}export{Tt as a,Rt as i,Nn as n,Ve as o,Cn as r,Jn as t};