import{t as e}from"./rolldown-runtime-cadc597d.js";import{At as t,B as n,C as r,Dt as i,E as a,F as o,G as s,I as c,J as l,K as u,M as d,P as f,Q as p,R as m,St as h,V as g,Y as _,Z as v,_ as y,_t as b,at as x,c as S,ct as C,et as w,g as T,i as E,j as D,kt as O,lt as k,nt as A,p as j,pt as M,q as N,tt as P,v as F,w as I,y as L}from"./console-7b64a923.js";import{u as R}from"./desktops-ed6e0000.js";const ee=(e,t)=>t>0?Math.ceil(6*e/t):0;function te({caption:e,rows:t,columns:n,values:r,text:i,unit:a,open:o}){let[[s,c],l]=h([0,0]),[d,f]=h(``),p=Math.max(...r.flat()),m=e=>{if(e.key===`Enter`||e.key===` `)return e.preventDefault(),o?.(s,c);let r={ArrowUp:[-1,0],ArrowDown:[1,0],ArrowLeft:[0,-1],ArrowRight:[0,1],Home:[0,-c],End:[0,n.length],PageUp:[-s,0],PageDown:[t.length,0]}[e.key];if(r===void 0)return;e.preventDefault();let i=[Math.min(Math.max(s+r[0],0),t.length-1),Math.min(Math.max(c+r[1],0),n.length-1)];e.currentTarget.rows[i[0]+1].cells[i[1]+1].focus()},g=(e,t)=>()=>{l([e,t]),f(i(e,t))};return b`<p class="heat-read">${d||b`<span class="note">Point at a cell or use the arrow keys. Click or Enter shows its desktops.</span>`}</p>
        <div class="table-frame">
            <table class="heat" role="grid" aria-readonly="true" onKeyDown=${m}>
                <caption class="hidden">${e}</caption>
                <thead>
                    <tr><td></td>${n.map(e=>b`<th key=${e} scope="col">${e}</th>`)}</tr>
                </thead>
                <tbody>
                    ${t.map((e,t)=>b`<tr key=${e}>
                            <th scope="row">${e}</th>
                            ${r[t].map((e,n)=>b`<td key=${n} class=${`heat-${ee(e,p)}`} tabindex=${t===s&&n===c?0:-1} onFocus=${g(t,n)} onPointerEnter=${()=>f(i(t,n))} onClick=${()=>o?.(t,n)}>${u(e)}</td>`)}
                        </tr>`)}
                </tbody>
            </table>
        </div>
        <ul class="heat-scale" aria-label=${`Shades, in ${a}`}>
            ${Array.from({length:p>0?7:1},(e,t)=>b`<li key=${t}><span class=${`heat-${t}`} aria-hidden="true"></span>${t===0?`0`:`to ${N(Math.floor(p*t/6))}`}</li>`)}
            <li class="note">${a}</li>
        </ul>`}var z=/* @__PURE__ */ e({default:()=>K});const B=36e5,V=[`Monday`,`Tuesday`,`Wednesday`,`Thursday`,`Friday`,`Saturday`,`Sunday`],H=e=>String(e).padStart(2,`0`),U=Array.from({length:24},(e,t)=>H(t)),W={activity:{title:`Records of activity`,of:`activity`,member:`count`,unit:`records`,total:`records of activity`},users:{title:`Users with activity`,of:`activity`,member:`users`,unit:`users`,total:`records of activity`},reporting:{title:`Desktops in use`,of:`reporting`,member:`count`,unit:`desktops`,total:`desktops that reported a user, once in each hour`},reportingUsers:{title:`Users at work`,of:`reporting`,member:`users`,unit:`users`,total:`desktops that reported a user, once in each hour`}};function G(){let e=w.value?0:-(/* @__PURE__ */ new Date()).getTimezoneOffset();return`${e<0?`-`:`+`}${H(Math.floor(Math.abs(e)/60))}:${H(Math.abs(e)%60)}`}function K(){let e=F(),t=W[C.value.query.kind]??W.activity,n=G(),r=g(`${e.key} ${t.of} ${n}`,r=>i(`/query/heatmap`,{of:t.of,from:e.from,to:e.to,offset:n},r));return b`<div class="head"><h1>Activity</h1></div>
        <div class="row choices">
            <label class="compact">Show <select value=${C.value.query.kind??`activity`} onChange=${e=>k({kind:e.target.value})}>
                ${Object.entries(W).map(([e,{title:t}])=>b`<option key=${e} value=${e}>${t}</option>`)}
            </select></label>
            <span class="note">Hours at UTC${n}</span>
        </div>
        <${c} of=${r}>${({rows:n,warnings:r})=>b`<${m} warnings=${r} /><${J} rows=${n} kind=${t} range=${e} />`}<//>`}function q(e,t,[n,r]){let i=[],a=new Date(r),[o,s,c,l]=w.value?[a.getUTCFullYear(),a.getUTCMonth(),a.getUTCDate(),a.getUTCDay()]:[a.getFullYear(),a.getMonth(),a.getDate(),a.getDay()];for(let a=(l+6-e)%7;;a+=7){let e=w.value?Date.UTC(o,s,c-a,t):new Date(o,s,c-a,t).getTime();if(e+B<=n)return i;e<r&&i.push([Math.max(e,n),Math.min(e+B,r)])}}function J({rows:e,range:t,kind:{title:n,of:i,member:a,unit:o,total:s}}){let c=(t,n)=>e[t*24+n],l=V.map((e,t)=>U.map((e,n)=>c(t,n)[a])),u=(e,t)=>{let{count:n,users:r}=c(e,t);return`${V[e]}, ${H(t)}:00 to ${H((t+1)%24)}:00: ${N(n)} ${i===`activity`?`records`:`desktops`}, ${N(r)} different users`},d=(e,n)=>r({title:`${V[e]}, ${H(n)}:00 to ${H((n+1)%24)}:00: ${i===`activity`?`desktops with activity`:`desktops in use`}`,stream:i===`activity`?`activity`:`stats`,spans:q(e,n,T(t)),accept:i===`activity`?void 0:({username:e})=>!!e}),f=e.reduce((e,t)=>t[a]>e[a]?t:e,e[0]),p=e.reduce((e,t)=>e+t.count,0);return b`<section class="panel">
        <div class="row"><h2>${n}</h2><button type="button" class="quiet to-end" onClick=${()=>A(`heatmap-${i}.csv`,P([`weekday`,`hour`,`count`,`users`],e))}>Export CSV</button></div>
        <p>${p===0?`There is no data in this range.`:b`${N(p)} ${s}. Busiest: <b>${u(f.weekday-1,f.hour)}</b>.`}</p>
        <${te} caption=${`${n} by day and hour`} rows=${V.map(e=>e.slice(0,3))} columns=${U} values=${l} text=${u} unit=${o} open=${d} />
    </section>`}async function Y(e,t,n,r){let i=[],a=/* @__PURE__ */ new Set;for await(let o of O(e,t,r)){i.push(...o.rows);for(let e of o.warnings)a.add(e);if(o.hasMore&&i.length>=n){a.add(`Showing the first ${N(i.length)} rows: there are more.`);break}}return{rows:i,warnings:[...a]}}var X=/* @__PURE__ */ e({default:()=>Z});function Z(){let e=F(),t=L(),n={from:e.from,to:e.to,...t},r=JSON.stringify([e.key,t]),a=g(r,e=>i(`/query/advice/totals`,n,e));return b`<div class="head"><h1>Advice</h1></div>
        <${c} of=${a}>${e=>b`<${ne} ...${e} of=${r} asked=${n} />`}<//>`}function ne({rows:e,warnings:t,of:n,asked:r}){let i=e.find(({desktops:e})=>e>0)?.advice??`idle`,a=C.value.query.kind in j?C.value.query.kind:i,o=e.reduce((e,{savingPerMonth:t})=>e+(t??0),0);return b`<${m} warnings=${t} />
        ${e.some(({savingPerMonth:e})=>e!==null)?b`<p>At most <b>${l(o,2)}</b> a month would be saved by all of it, by the prices of the server: advice of two kinds about one desktop overlaps.</p>`:b`<p class="note">With prices in the configuration of the server (<code>cost.prices</code>) this page says what is saved.</p>`}
        <div class="row" role="group" aria-label="Kinds of advice">
            ${e.map(({advice:e,desktops:t,savingPerMonth:n})=>b`<button key=${e} type="button" aria-pressed=${e===a} onClick=${()=>k({kind:e})}>${j[e]?.title??e} <b>${N(t)}</b>${n!==null&&b` <span class="note">${l(n,2)}</span>`}</button>`)}
        </div>
        <${re} key=${a} kind=${a} desktops=${e.find(({advice:e})=>e===a)?.desktops??0} of=${n} asked=${r} />`}function re({kind:e,desktops:t,of:r,asked:i}){let{title:o,rule:s,how:u,act:f}=j[e],p=g(`${e} ${r}`,t=>Y(`/query/advice`,{advice:e,...i},1e4,t)),m=[{name:`workSpId`,title:`Desktop`,show:e=>b`<${D} id=${e.workSpId} />`},{name:`username`,title:`User`,show:e=>b`<${d} name=${e.username} />`},{name:`savingPerMonth`,title:`Saves a month`,number:!0,show:e=>e.savingPerMonth===null?`–`:l(e.savingPerMonth,2)},{name:`hours`,title:`Hours a month`,number:!0,show:e=>l(e.hours,2)},{name:`limitHours`,title:`Limit`,number:!0},{name:`evidence`,title:`Evidence`,fixed:!0,show:e=>b`<span class="evidence">${e.evidence}</span>`},...f&&M(f)?[{name:`act`,title:`Action`,fixed:!0,unsaved:!0,show:e=>b`<button type="button" onClick=${()=>a(f,[e.workSpId])}>Change type …</button>`}]:[]];return b`<section class="panel">
        <h2>${o}</h2>
        <p>${s}</p>
        ${u&&b`<details><summary>How is it computed?</summary><p class="note">${u}</p></details>`}
        <p class="note">Estimated from telemetry: look at the desktop, and ask its user, before you change it.</p>
        <${c} of=${p}>
            ${({rows:r})=>b`${r.length<t&&b`<p class="note">Showing ${N(r.length)} of ${N(t)}.</p>`}
                <${n} caption=${o} columns=${m} rows=${r} most=${200} rowKey=${e=>e.workSpId} file=${`advice-${e}`} empty="No desktops match." tools=${r.length>0&&b`<a class="button" href=${x(`desktops`,void 0,{workSpId:`in.${r.slice(0,500).map(({workSpId:e})=>e).join(`,`)}`})}>Open ${r.length>500?`the first ${N(500)}`:N(r.length)} in Desktops</a>`} />`}
        <//>
    </section>`}var ie=/* @__PURE__ */ e({default:()=>ae});const Q=[{name:`total`,title:`Total`,label:`total`,tone:0},{name:`profile`,title:`Profile`,label:`profile`,tone:1},{name:`groupPolicy`,title:`Group policy`,label:`group policy`,tone:2},{name:`shell`,title:`Shell`,label:`shell`,tone:3},{name:`unattributed`,title:`Other`,label:`other`,tone:4}];function ae(){let e=F(),t=L(),n=JSON.stringify([e.key,t]),r=g(n,n=>oe(e,t,n)),i=Q.find(({name:e})=>e===C.value.query.phase)??Q[0];return b`<div class="head"><h1>Logons</h1></div>
        <div class="row choices">
            <label class="compact">Phase <select value=${i.name} onChange=${e=>k({phase:e.target.value})}>
                ${Q.map(({name:e,title:t})=>b`<option key=${e} value=${e}>${t}</option>`)}
            </select></label>
        </div>
        <${c} of=${r}>${t=>b`<${se} found=${t} phase=${i} range=${e} />`}<//>`}async function oe(e,t,n){let[r,a]=T(e),o={from:e.from,to:e.to,...t},[s,c]=await Promise.all([i(`/query/startup`,{...o,step:a-r>1728e5?`1d`:`1h`},n),i(`/query/startup`,{...o,step:`20000d`},n)]),l=await Promise.all((s.slowest??[]).map(e=>$(e,n)));return{report:s,whole:c.rows.at(-1)??{},slowest:l}}async function $(e,n){let{instanceId:r,at:i,totalMs:a}=e,o=new Date(Date.parse(i)+1e3).toISOString(),{profileMs:s=null,groupPolicyMs:c=null,shellMs:l=null}=(await(await t(`GET`,`/query/export`,{query:{stream:`startup`,format:`ndjson`,instanceId:r,from:i,to:o},signal:n})).text()).split(`
`).filter(Boolean).map(e=>JSON.parse(e)).find(e=>e.totalMs===a)??{},u=s!==null&&c!==null&&l!==null;return{...e,profileMs:s,groupPolicyMs:c,shellMs:l,unattributedMs:u?a-s-c-l:null}}function se({found:{report:e,whole:t,slowest:n},phase:{name:i,title:a,tone:o},range:s}){let c=[`P50`,`P90`,`P95`].map(e=>({name:i+e,label:e.toLowerCase(),tone:o})),l=Q.slice(1).map(e=>({name:`${e.name}P50`,label:e.label,tone:e.tone})),u=R(s),d=(e,t)=>r({title:`Logons, ${e}`,stream:`startup`,spans:t,value:{title:`Slowest`,of:({totalMs:e})=>e,text:_}}),f=(e,t)=>d(`${p(e)} to ${p(t)}`,[[e,t]]),[h,g]=T(s),v={unit:`ms`,step:e.stepSeconds,from:h,to:g,marks:u,open:f},x={name:`count`,label:`logons`};return b`<${m} warnings=${e.warnings} />
        <div class="panels wide">
            <section class="panel"><${E} title=${a} rows=${e.rows} series=${c} ...${v} amount=${x} file=${`logons-${i}`} /></section>
            <section class="panel"><${E} title="Median of each phase" rows=${e.rows} series=${l} ...${v} amount=${x} file="logons-phases" /></section>
        </div>
        <section class="panel">
            <div class="head"><h2>Slowest logons</h2><button type="button" class="quiet" onClick=${()=>d(y(s),I(h,g))}>All desktops with logons</button></div>
            <${ce} rows=${n} whole=${t} />
        </section>`}function ce({rows:e,whole:t}){let r=Math.max(...e.map(({totalMs:e})=>e),t.totalP95??0),i=[{name:`instanceId`,title:`Desktop`,show:e=>b`<${D} id=${e.instanceId} />`},{name:`username`,title:`User`,show:e=>b`<${d} name=${e.username} />`},{name:`at`,title:`Time`,show:e=>b`<span class="nowrap">${p(e.at)}</span>`},...Q.map(({name:e,title:n,tone:i})=>({name:`${e}Ms`,title:n,number:!0,show:n=>b`${_(n[`${e}Ms`])}<${S} value=${n[`${e}Ms`]} max=${r} whole=${n.totalMs} ticks=${[t[`${e}P50`]??null,t[`${e}P95`]??null]} tone=${i} />`}))];return b`<${n} caption="Slowest logons" columns=${i} rows=${e} rowKey=${e=>`${e.instanceId} ${e.at}`} sort="-totalMs" file="slowest-logons" empty="There are no logons in this range." />
        ${e.length>0&&b`<p class="note">Coloured: this phase. Grey: whole logon. Ticks: fleet median (thin, ${_(t.totalP50)} in total) and 95th percentile (thick, ${_(t.totalP95)}). Phases may overlap: a record holds how long each took, not when.</p>`}`}var le=/* @__PURE__ */ e({default:()=>de});const ue={cpuAvg:`cpu`,memoryAvg:`memory`};function de(){let e=F(),{instanceId:t,sort:n=`-cpuAvg`,q:r=``}=C.value.query,i=g(JSON.stringify([e.key,t,n]),r=>Y(`/query/processes`,{from:e.from,to:e.to,instanceId:t,sort:n.replace(/\w+$/,e=>ue[e]??e)},2e3,r));return b`<div class="head"><h1>Processes</h1></div>
        <div class="row choices">
            <label class="compact">Name <input type="search" value=${r} placeholder="part of a name" onInput=${e=>k({q:e.target.value||void 0},`q`)} /></label>
            ${t&&b`<span>On <${D} id=${t} /></span><button type="button" onClick=${()=>k({instanceId:void 0})}>Show all desktops</button>`}
        </div>
        <${c} of=${i}>${t=>b`<${pe} ...${t} range=${e} q=${r.toLowerCase()} sort=${n} />`}<//>`}function fe(e,t){let n=({processes:t})=>(t??[]).filter(t=>t.processName===e);return{title:`Desktops that run ${o(e)}`,stream:`processes`,spans:I(...T(t)),accept:e=>n(e).length>0,value:{title:`CPU, max`,text:v,of:e=>n(e).reduce((e,{processorUsage:t=0})=>e+t,0)}}}function pe({rows:e,warnings:t,range:i,q:a,sort:c}){let l=e.filter(({processName:e})=>e.toLowerCase().includes(a)),u=t=>Math.max(...e.map(e=>Number(e[t]??0))),d=(e,t,n,r,i)=>({name:e,title:t,number:!0,show:t=>b`<span class="measured"><${S} value=${t[e]} max=${r} tone=${i} />${n(t[e])}</span>`}),[p,h]=[u(`cpuMax`),u(`memoryMax`)],g=[{name:`processName`,title:`Process`,show:e=>b`<span class="named"><${f} text=${e.processName} /></span>`},{name:`machines`,title:`Desktops`,number:!0,show:e=>b`<button type="button" class="number-link" aria-label=${`${N(e.machines)} desktops run ${o(e.processName)}: show them`} onClick=${()=>r(fe(e.processName,i))}>${N(e.machines)}</button>`},{name:`reports`,title:`Reports`,number:!0,show:e=>N(e.reports)},d(`cpuAvg`,`CPU, mean`,v,p,1),d(`cpuMax`,`CPU, max`,v,p,1),d(`memoryAvg`,`Memory, mean`,s,h,2),d(`memoryMax`,`Memory, max`,s,h,2)];return b`<${m} warnings=${t} />
        <${n}
            caption="Processes"
            columns=${g}
            rows=${l}
            most=${200}
            rowKey=${e=>e.processName}
            file="processes"
            sort=${c}
            onSort=${e=>k({sort:e===`-cpuAvg`?void 0:e})}
            empty=${a===``?`No desktop reported its processes in this range.`:`No process has this in its name.`}
        />`}export{z as i,ie as n,X as r,le as t};